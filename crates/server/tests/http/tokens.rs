//! Tokens that read metrics and nothing else, tokens that end with a password, pages of the ledger.

use super::*;

#[test]
fn a_metrics_token_reads_metrics_and_nothing_else() {
    run(async {
        let house = House::new().await;
        let metrics = house.service.users.add_metrics_token("root", "prometheus", 1).unwrap();
        let reply = house.get("/metrics", &metrics).await;
        assert_eq!(reply.status, StatusCode::OK);
        assert!(reply.text().contains("demure_budget_left 3"));
        for (method, path, body) in everything() {
            if path == "/metrics" {
                continue;
            }
            let request = Request::builder()
                .method(method)
                .uri(path)
                .header("content-type", "application/json")
                .header("authorization", format!("Bearer {metrics}"));
            let body = if body.is_null() { String::new() } else { body.to_string() };
            let reply = house.raw(request, body).await;
            assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "{path}");
        }
        let id = house.service.users.tokens(None).unwrap().remove(0).id;
        house.service.users.revoke_token("root", None, &id).unwrap();
        assert_eq!(house.get("/metrics", &metrics).await.status, StatusCode::UNAUTHORIZED);
        assert_eq!(house.get("/metrics", &house.token("ana")).await.status, StatusCode::FORBIDDEN);
    });
}

#[test]
fn another_password_ends_sessions_and_tokens() {
    run(async {
        let house = House::new().await;
        let (token, cookie) = (house.token("ana"), house.cookie("ana").await);
        let (other, sam) = (house.token("sam"), house.cookie("sam").await);
        // From another process: the server is told nothing.
        house.service.users.set_password("root", "ana", "another password").unwrap();
        assert_eq!(house.get("/api/session", &token).await.status, StatusCode::UNAUTHORIZED);
        let with = |cookie: &str| Request::get("/api/session").header("cookie", cookie.to_owned());
        assert_eq!(house.raw(with(&cookie), "").await.status, StatusCode::UNAUTHORIZED);
        assert_eq!(house.get("/api/session", &other).await.status, StatusCode::OK);
        assert_eq!(house.raw(with(&sam), "").await.status, StatusCode::OK);
    });
}

#[test]
fn a_page_of_ones_own_entries_looks_at_a_bounded_part_of_the_ledger() {
    run(async {
        let house = House::new().await;
        let (ana, sam) = (house.token("ana"), house.token("sam"));
        let ledger = house.service.curator.ledger();
        // A long journal of somebody else's, with an entry of hers at its beginning.
        let asked = json!({ "sql": "SELECT COUNT(*) FROM patients", "epsilon": 0.1 });
        assert_eq!(house.post("/api/query", &ana, asked).await.status, StatusCode::OK);
        let begun = ledger.newest().unwrap();
        for _ in 0..5_100 {
            ledger.freeze("sam", "").unwrap();
            ledger.unfreeze("sam", "").unwrap();
        }
        let newest = ledger.newest().unwrap();
        assert!(newest > begun + 10_000);
        // She finds it in two pages, of which the first is empty.
        let first = house.get("/api/ledger", &ana).await.json();
        assert_eq!(first["entries"], json!([]));
        let next = first["next"].as_u64().unwrap();
        assert_eq!(next, newest - 9_999, "it looked at ten thousand");
        let second = house.get(&format!("/api/ledger?before={next}"), &ana).await.json();
        assert_eq!(second["entries"].as_array().unwrap().len(), 2);
        assert_eq!(second["next"], Value::Null);
        // 64 at once are as good as one.
        let begun = std::time::Instant::now();
        let pages = (0..64).map(|i| {
            let path = format!("/api/ledger?after={}&limit=100", 100 * i);
            let (house, sam) = (&house, &sam);
            async move { house.get(&path, sam).await.json() }
        });
        for page in futures::future::join_all(pages).await {
            assert_eq!(page["entries"].as_array().unwrap().len(), 100);
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    });
}
