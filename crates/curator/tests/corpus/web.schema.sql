CREATE TABLE countries (code VARCHAR, name VARCHAR, continent VARCHAR);
CREATE TABLE products (product_id BIGINT, title VARCHAR, category VARCHAR, price DOUBLE);
CREATE TABLE users (user_id BIGINT, name VARCHAR, email VARCHAR, country VARCHAR, signup DATE, plan VARCHAR,
    birth_year BIGINT, active BOOLEAN, channel VARCHAR);
CREATE TABLE events (event_id BIGINT, user_id BIGINT, ts TIMESTAMP, kind VARCHAR, page VARCHAR, seconds BIGINT,
    device VARCHAR);
CREATE TABLE purchases (purchase_id BIGINT, user_id BIGINT, ts TIMESTAMP, product_id BIGINT, quantity BIGINT,
    amount DOUBLE, coupon VARCHAR, refunded BOOLEAN);
