import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The lists of jobs: their order, which clients change, and the ended jobs that clients clear from them.
@Suite(.timeLimit(.minutes(2))) struct JobListTests {
    private func list(_ place: ServedPlace, _ query: String) async throws -> [[String: Any]] {
        try await place.ask("/api/v1/jobs?" + query).json["jobs"] as? [[String: Any]] ?? []
    }

    private func names(_ place: ServedPlace, _ query: String) async throws -> [String] {
        try await list(place, query).compactMap { $0["id"] as? String }
    }

    /// Adds paused jobs with one-letter names, and returns their gids.
    private func paused(_ names: String, _ place: ServedPlace) async throws -> [Character: String] {
        let jobs = names.map { job("http://127.0.0.1:1/\($0)", to: "\($0)") }.joined(separator: ", ")
        let taken = try await place.ask("/api/v1/jobs?paused=1&batch=order", json: "[\(jobs)]")
        let gids = try #require(taken.json["gids"] as? [String], "\(taken.text)")
        return Dictionary(zip(names, gids)) { first, _ in first }
    }

    @Test func waitingJobsMoveInTheOrderInWhichTheyStart() async throws {
        let moves: [(moved: String, to: String, changed: Int, order: String)] = [
            ("ab", "up", 0, "abcde"), ("ba", "up", 0, "abcde"), ("de", "down", 0, "abcde"),
            ("d", "first", 1, "dabce"), ("d", "first", 0, "dabce"), ("bc", "first", 2, "bcdae"),
            ("b", "last", 1, "cdaeb"), ("cd", "last", 2, "aebcd"), ("c", "up", 1, "aecbd"), ("a", "up", 0, "aecbd"),
            ("ae", "down", 2, "caebd"), ("d", "down", 0, "caebd"), ("eb", "up", 2, "cebad"), ("dd", "up", 1, "cebda"),
        ]
        try await withService { place in
            let gids = try await paused("abcde", place)
            for move in moves {
                let words = move.moved.compactMap { gids[$0] }.map { "\"\($0)\"" }.joined(separator: ", ")
                let answer = try await place.ask(
                    "/api/v1/move", json: "{\"gids\": [\(words)], \"to\": \"\(move.to)\"}")
                #expect(answer.json["changed"] as? Int == move.changed, "\(move): \(answer.text)")
                #expect(try await names(place, "batch=order&sort=turn").joined() == move.order, "\(move)")
            }
        }
    }

    @Test func theOrderOfTurnsIsReadInPages() async throws {
        try await withService { place in
            let gids = try await paused("abcde", place)
            let moved = try await place.ask(
                "/api/v1/move", json: "{\"gids\": [\"\(gids["e"] ?? "")\"], \"to\": \"first\"}")
            #expect(moved.status == 200, "\(moved.text)")
            var (seen, cursor) = ("", "")
            repeat {
                let page = try await place.ask("/api/v1/jobs?sort=turn&limit=2" + cursor)
                seen += (page.json["jobs"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }.joined()
                cursor = (page.json["next"] as? String).map { "&cursor=\($0)" } ?? ""
            } while !cursor.isEmpty
            #expect(seen == "eabcd")
            #expect(try await place.ask("/api/v1/jobs?sort=turn&cursor=x").status == 400)
        }
    }

    @Test func clearedJobsLeaveTheListsAndStayInTheQueue() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 1000))
            let place = try await ServedPlace.start()
            defer { place.process.kill(SIGKILL) }
            let jobs = ["a", "b", "c"].map { job(server.url("/\($0)"), to: $0) }.joined(separator: ", ")
            let taken = try await place.ask("/api/v1/jobs", json: "[\(jobs)]")
            let gids = try #require(taken.json["gids"] as? [String], "\(taken.text)")
            for (gid, state) in zip(gids, ["done", "failed", "failed"]) { _ = try await place.job(gid, becomes: state) }
            let some = try await place.ask(
                "/api/v1/clear", json: "{\"select\": {\"gids\": [\"\(gids[0])\", \"\(gids[1])\"]}}")
            #expect(some.json["matched"] as? Int == 2 && some.json["changed"] as? Int == 2, "\(some.text)")
            #expect(try await names(place, "cleared=0") == ["c"])
            #expect(try await names(place, "sort=-ended&cleared=0") == ["c"])
            #expect(try await names(place, "cleared=1") == ["a", "b", "c"])
            let failures = try await place.ask("/api/v1/failures?cleared=0").json
            let groups = failures["groups"] as? [[String: Any]]
            #expect(failures["cleared"] as? Int == 1 && groups?.first?["jobs"] as? Int == 1, "\(failures)")
            // The next service has the same lists.
            try await place.stop()
            let next = try await ServedPlace.start(in: place.folder)
            defer { next.process.kill(SIGKILL) }
            #expect(try await names(next, "cleared=0") == ["c"])
            // A job that ends again is listed again.
            let again = try await next.ask(
                "/api/v1/steer", json: "{\"action\": \"retry\", \"select\": {\"gids\": [\"\(gids[1])\"]}}")
            #expect(again.json["changed"] as? Int == 1, "\(again.text)")
            try await until("it failed again") { try await names(next, "cleared=0&state=failed") == ["b", "c"] }
            let all = try await next.ask("/api/v1/clear", json: #"{"select": "all"}"#)
            #expect(all.json["matched"] as? Int == 3, "\(all.text)")
            #expect(try await names(next, "cleared=0").isEmpty)
            #expect(try await next.ask("/api/v1/failures?cleared=0").json["cleared"] as? Int == 2)
            #expect(try await names(next, "cleared=1") == ["a", "b", "c"])
        }
    }

    /// The queue of the folder was removed, and the file with the mark stayed.
    @Test func aMarkBeyondTheLastEndIsForgotten() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 1000))
            let folder = try TemporaryFolder("serve")
            for name in ["serve.cleared", "serve.aria2"] { try folder.write("1000\n", to: "state/" + name) }
            let place = try await ServedPlace.start(in: folder)
            defer { place.process.kill(SIGKILL) }
            let taken = try await place.ask("/api/v1/jobs", json: job(server.url("/a"), to: "a"))
            _ = try await place.job(try #require(taken.json["gid"] as? String, "\(taken.text)"), becomes: "done")
            try await until("it is listed") { try await names(place, "cleared=0") == ["a"] }
        }
    }

    @Test func jobsThatWaitAreNotCleared() async throws {
        try await withService { place in
            let gids = try await paused("ab", place)
            for select in [
                "\"all\"", "{\"batch\": \"order\"}", "{\"gids\": [\"\(gids["a"] ?? "")\"]}", "{\"state\": \"paused\"}",
            ] {
                let answer = try await place.ask("/api/v1/clear", json: "{\"select\": \(select)}")
                #expect(answer.status == 200 && answer.json["changed"] as? Int == 0, "\(select): \(answer.text)")
            }
            #expect(try await names(place, "cleared=0") == ["a", "b"])
        }
    }

    @Test(arguments: [
        ("move", #"{"gids": ["0000000000000001"], "to": "first"}"#, 404),
        ("move", #"{"gids": [], "to": "first"}"#, 422),
        ("move", #"{"gids": ["0000000000000001"], "to": "aside"}"#, 422), ("move", #"{"to": "up"}"#, 422),
        ("move", #"{"gids": [1], "to": "up"}"#, 422), ("clear", "{}", 422), ("clear", #"{"select": {}}"#, 422),
        ("clear", #"{"select": {"gids": ["0000000000000001"]}}"#, 404),
    ])
    func whatCannotBeMeantIsRefused(_ route: String, _ body: String, _ status: Int) async throws {
        try await withService { place in
            let answer = try await place.ask("/api/v1/\(route)", json: body)
            #expect(answer.status == status, "\(answer.text)")
        }
    }

    @Test func aSecretForReadingChangesNoList() async throws {
        try await withService(ServedPlace.options + ["--read-secret", "$READER"]) { place in
            for (route, body) in [("move", #"{"gids": ["1"], "to": "up"}"#), ("clear", #"{"select": "all"}"#)] {
                let answer = try await place.ask("/api/v1/\(route)", json: body, secret: "only-looking")
                #expect(answer.status == 403 && answer.json["code"] as? String == "readOnly", "\(answer.text)")
                #expect(try await place.ask("/api/v1/\(route)", json: body, secret: nil).status == 401)
            }
        }
    }
}
