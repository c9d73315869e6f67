//! What stewards do: personal limits, groups, periods, freezes, accounts.

use super::*;

#[test]
fn stewards_grant_and_freeze_and_analysts_see_their_part() {
    run(async {
        let house = House::new().await;
        let (ana, sam) = (house.token("ana"), house.token("sam"));
        let done = async |path: &str, body: Value| {
            let reply = house.post(path, &sam, body).await;
            assert_eq!(reply.status, StatusCode::OK, "{path} {}", reply.text());
        };
        done("/api/grants", json!({ "action": "grant", "subject": "ana", "epsilon": 1 })).await;
        done("/api/grants", json!({ "action": "join", "analyst": "ana", "group": "@ward" })).await;
        done("/api/period", json!({ "action": "open", "epsilon": 2, "delta": 1e-7 })).await;
        let sql = json!({ "sql": "SELECT COUNT(*) AS n FROM patients", "epsilon": 0.75 });
        assert_eq!(house.post("/api/query", &ana, sql).await.status, StatusCode::OK);
        let more = json!({ "sql": "SELECT AVG(age) AS a FROM patients", "epsilon": 0.5 });
        let refused = house.post("/api/query", &ana, more.clone()).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(refused.json()["error"].as_str().unwrap().contains("limit of ana"));
        let budget = house.get("/api/budget", &ana).await.json();
        assert_eq!(budget["you"]["bound_by"], "the limit of ana");
        near(&budget["you"]["left"]["epsilon"], 0.25);
        assert_eq!(budget["you"]["limit"]["epsilon"], 1.0);
        assert!(budget.get("limits").is_none(), "others' limits are not hers to see");
        let all = house.get("/api/budget", &sam).await.json();
        assert_eq!(all["limits"][0]["subject"], "ana");
        assert_eq!(all["groups"][0], json!({ "name": "@ward", "members": ["ana"] }));
        assert_eq!(all["period"]["epsilon"], 2.0);
        done("/api/freeze", json!({ "why": "audit" })).await;
        let frozen = house.post("/api/query", &sam, more.clone()).await;
        assert!(frozen.json()["error"].as_str().unwrap().contains("frozen by sam"));
        assert_eq!(house.get("/api/budget", &ana).await.json()["frozen"]["why"], "audit");
        done("/api/unfreeze", json!({})).await;
        assert_eq!(house.post("/api/query", &sam, more).await.status, StatusCode::OK);
        // The journal: hers alone for her, all of it for the steward, page by page.
        let hers = house.get("/api/ledger", &ana).await.json();
        let kinds = |page: &Value| -> Vec<String> {
            let entries = page["entries"].as_array().unwrap().iter();
            entries
                .map(|e| format!("{} {}", e["who"].as_str().unwrap(), e["kind"].as_str().unwrap()))
                .collect()
        };
        assert_eq!(kinds(&hers), ["ana settle", "ana reserve"]);
        // What she asked is there as she wrote it, and what came of it; of others she sees nothing.
        let debit = &hers["entries"][1];
        assert_eq!(debit["asked"]["sql"], "SELECT COUNT(*) AS n FROM patients", "{debit}");
        assert_eq!(debit["asked"]["settings"], json!({ "demure.epsilon": "0.75" }));
        assert_eq!(
            (&debit["outcome"], &debit["asked"]["complete"]),
            (&json!("answered"), &json!(true))
        );
        assert!(hers["entries"].as_array().unwrap().iter().all(|entry| entry["who"] == "ana"));
        // The key that an answer is found by is made of the files: nobody is shown it.
        let all = house.get("/api/ledger", &sam).await.json();
        for entry in
            hers["entries"].as_array().unwrap().iter().chain(all["entries"].as_array().unwrap())
        {
            let subject = matches!(entry["kind"].as_str().unwrap(), "grant" | "member");
            assert_eq!(entry["key"] != "", subject, "{entry}");
        }
        let (mut after, mut seen) = (0, Vec::new());
        loop {
            let page = house.get(&format!("/api/ledger?after={after}&limit=3"), &sam).await.json();
            seen.extend(kinds(&page));
            match page["next"].as_u64() {
                Some(next) => after = next,
                None => break,
            }
        }
        assert_eq!(seen.len(), 10, "{seen:?}");
        assert_eq!(seen.last().unwrap(), "sam settle");
        let newest = house.get("/api/ledger?limit=1", &sam).await.json();
        assert_eq!(kinds(&newest), ["sam settle"]);
        for bad in ["?limit=x", "?after=-1", "?after=1&before=2", "?x=1"] {
            let reply = house.get(&format!("/api/ledger{bad}"), &sam).await;
            assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{bad}");
        }
        for bad in [
            json!({ "action": "grant", "subject": "ana", "epsilon": 0 }),
            json!({ "action": "grant", "subject": "ana", "epsilon": 1, "delta": 1 }),
            json!({ "action": "grant", "subject": "", "epsilon": 1 }),
            json!({ "action": "join", "analyst": "ana", "group": "ward" }),
            json!({ "action": "give" }),
        ] {
            let reply = house.post("/api/grants", &sam, bad.clone()).await;
            assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{bad}");
        }
    });
}

#[test]
fn stewards_keep_the_accounts() {
    run(async {
        let house = House::new().await;
        let sam = house.token("sam");
        let change = |body: Value| house.post("/api/users", &sam, body);
        let add =
            json!({ "action": "add", "name": "eve", "role": "analyst", "password": PASSWORD });
        assert_eq!(change(add.clone()).await.status, StatusCode::OK);
        assert_eq!(change(add).await.status, StatusCode::CONFLICT);
        assert_eq!(house.sign_in("eve", PASSWORD).await.status, StatusCode::OK);
        let token = json!({ "action": "token", "name": "eve", "label": "notebook", "days": 2 });
        let token = change(token).await.json()["token"].as_str().unwrap().to_owned();
        assert_eq!(house.get("/api/session", &token).await.json()["user"], "eve");
        let revoke = json!({ "action": "revoke-tokens", "name": "eve" });
        assert_eq!(change(revoke).await.json()["revoked"], 1);
        assert_eq!(house.get("/api/session", &token).await.status, StatusCode::UNAUTHORIZED);
        assert_eq!(
            change(json!({ "action": "disable", "name": "eve" })).await.status,
            StatusCode::OK
        );
        assert_eq!(house.sign_in("eve", PASSWORD).await.status, StatusCode::UNAUTHORIZED);
        let users = house.get("/api/users", &sam).await.json();
        let eve = users["users"].as_array().unwrap().iter().find(|u| u["name"] == "eve").unwrap();
        assert_eq!(eve["disabled"], true);
        for (body, status) in [
            (json!({ "action": "disable", "name": "sam" }), 400),
            (json!({ "action": "enable", "name": "nobody" }), 404),
            (
                json!({ "action": "add", "name": "x y", "role": "analyst", "password": PASSWORD }),
                400,
            ),
            (json!({ "action": "add", "name": "zoe", "role": "king", "password": PASSWORD }), 400),
            (
                json!({ "action": "add", "name": "zoe", "role": "analyst", "password": "short" }),
                400,
            ),
            (json!({ "action": "token", "name": "ana", "label": "x", "days": 0 }), 400),
            (json!({ "action": "token", "name": "ana", "label": "a\nb", "days": 1 }), 400),
        ] {
            assert_eq!(change(body.clone()).await.status.as_u16(), status, "{body}");
        }
        let audit = house.get("/api/audit?limit=5", &sam).await;
        assert!(audit.json()["records"].as_array().unwrap().len() == 5);
        assert!(!audit.text().contains(PASSWORD));
        assert!(
            house.get("/api/policy", &sam).await.json()["text"]
                .as_str()
                .unwrap()
                .contains("[budget]")
        );
        let metrics = house.get("/metrics", &sam).await;
        assert!(metrics.text().contains("demure_budget_left 3"));
    });
}
