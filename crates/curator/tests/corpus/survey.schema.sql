CREATE TABLE respondents (id BIGINT, age BIGINT, sex VARCHAR, "Region" VARCHAR, education VARCHAR, income DOUBLE,
    "HouseholdSize" BIGINT, satisfaction BIGINT, height DOUBLE, weight DOUBLE, smoker BOOLEAN, interviewed DATE,
    started TIMESTAMP, finished TIMESTAMP, party VARCHAR);
CREATE TABLE weights (region VARCHAR, factor DOUBLE);
