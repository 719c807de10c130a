import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Calls of aria2's interface by their results, which are those of aria2c.
@Suite(.timeLimit(.minutes(2))) struct Aria2CallTests {
    /// A service that is called with its secret.
    private struct Caller {
        let place: ServedPlace

        /// Makes a call.
        ///
        /// - Parameter parameters: The parameters behind the secret, as JSON.
        func call(_ method: String, _ parameters: String = "") async throws -> ServedPlace.Answer {
            let list = [#""token:\#(ServedPlace.secret)""#] + (parameters.isEmpty ? [] : [parameters])
            return try await place.ask(
                "/jsonrpc",
                json:
                    #"{"jsonrpc": "2.0", "id": 1, "method": "aria2.\#(method)", "params": [\#(list.joined(separator: ", "))]}"#
            )
        }

        func add(_ url: String, _ options: String = "{}") async throws -> String {
            let answer = try await call("addUri", #"["\#(url)"], \#(options)"#)
            return try #require(answer.json["result"] as? String, "\(answer.text)")
        }

        func status(_ gid: String) async throws -> [String: Any] {
            try await call("tellStatus", #""\#(gid)""#).json["result"] as? [String: Any] ?? [:]
        }

        /// Waits for a status.
        ///
        /// - Returns: The path of the download's file, without the served folder.
        @discardableResult
        func path(_ gid: String, becomes status: String) async throws -> String {
            let files = try await found("\(gid) becomes \(status)") {
                let now = try await self.status(gid)
                return now["status"] as? String == status ? now["files"] as? [[String: Any]] : nil
            }
            let path = try #require(files.first?["path"] as? String)
            return String(path.dropFirst(place.folder.path("files").count + 1))
        }
    }

    private func withCaller(_ body: (Caller, TestServer) async throws -> Void) async throws {
        try await withTestServer { server in
            try await withService { try await body(Caller(place: $0), server) }
        }
    }

    @Test func filesOfAMetalinkGetTheOptionsOfTheCall() async throws {
        try await withCaller { caller, server in
            server.serve("/one", .random(seed: 1, count: 1000))
            let document = """
                <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="in/one.bin"><size>1000</size>
                <url>\(server.url("/one"))</url></file></metalink>
                """
            let folder = caller.place.folder.path("files/m")
            let options = #"{"dir": "\#(folder)", "header": ["X-A: 1", "X-B: 2"], "pause": "true", "split": "3"}"#
            let added = try await caller.call(
                "addMetalink", #""\#(Data(document.utf8).base64EncodedString())", \#(options)"#)
            let gid = try #require((added.json["result"] as? [String])?.first, "\(added.text)")
            let option = try await caller.call("getOption", #""\#(gid)""#).json["result"] as? [String: String]
            #expect(option?["dir"] == folder + "/in" && option?["out"] == "one.bin" && option?["split"] == "3")
            #expect(option?["header"] == "X-A: 1\nX-B: 2\n")
            _ = try await caller.call("unpause", #""\#(gid)""#)
            #expect(try await caller.path(gid, becomes: "complete") == "m/in/one.bin")
            let request = try #require(server.requests(to: "/one").last)
            #expect(request.head.headers["X-A"] == "1" && request.head.headers["X-B"] == "2")
        }
    }

    @Test func optionsForExistingFilesAreFollowed() async throws {
        try await withCaller { caller, server in
            server.serve("/w", .random(seed: 1, count: 1000))
            let first = try await caller.add(server.url("/w"), #"{"out": "w.bin"}"#)
            try await caller.path(first, becomes: "complete")
            let second = try await caller.add(server.url("/w"), #"{"out": "w.bin"}"#)
            #expect(try await caller.path(second, becomes: "complete") == "w.1.bin")
            server.serve("/w", .random(seed: 2, count: 2000))
            let third = try await caller.add(server.url("/w"), #"{"out": "w.bin", "allow-overwrite": "true"}"#)
            #expect(try await caller.path(third, becomes: "complete") == "w.bin")
            #expect(caller.place.folder.size("files/w.bin") == 2000)
            let refused = try await caller.call(
                "addUri", #"["\#(server.url("/w"))"], {"out": "w.bin", "auto-file-renaming": "false"}"#)
            #expect(refused.status == 400 && refused.text.contains("auto-file-renaming"), "\(refused.text)")
            try FileManager.default.removeItem(atPath: caller.place.folder.path("files/w.bin"))
            let last = try await caller.add(server.url("/w"), #"{"out": "w.bin", "auto-file-renaming": "false"}"#)
            #expect(try await caller.path(last, becomes: "complete") == "w.bin")
        }
    }

    @Test func aRemovedDownloadKeepsItsSizeAndGivesItsNameBack() async throws {
        try await withCaller { caller, server in
            server.serve("/large", .random(seed: 1, count: 400_000))
            server.script("/large", [], afterwards: .stall(after: 100_000))
            let gid = try await caller.add(server.url("/large"), #"{"out": "r.bin"}"#)
            try await until("its size is known") {
                try await caller.status(gid)["totalLength"] as? String == "400000"
            }
            _ = try await caller.call("remove", #""\#(gid)""#)
            try await caller.path(gid, becomes: "removed")
            let removed = try await caller.status(gid)
            #expect(removed["totalLength"] as? String == "400000" && removed["errorCode"] as? String == "31")
            server.script("/large", [])
            let again = try await caller.add(server.url("/large"), #"{"out": "r.bin"}"#)
            #expect(try await caller.path(again, becomes: "complete") == "r.bin")
            #expect(caller.place.folder.size("files/r.bin") == 400_000)
        }
    }

    @Test func namesThatAreTakenGetTheNextNumber() async throws {
        try await withCaller { caller, server in
            var paths: [String] = []
            for _ in 0..<12 {
                let gid = try await caller.add(server.url("/c"), #"{"out": "c.bin", "pause": "true"}"#)
                paths.append(try await caller.path(gid, becomes: "paused"))
            }
            #expect(paths == ["c.bin"] + (1..<12).map { "c.\($0).bin" })
        }
    }

    @Test func aGIDIsRefusedWhileItIsInUse() async throws {
        try await withCaller { caller, server in
            func add(_ name: String, _ gid: String) async throws -> ServedPlace.Answer {
                try await caller.call("addUri", #"["\#(server.url(name))"], {"gid": "\#(gid)", "pause": "true"}"#)
            }
            let gid = "00000000000000a1"
            #expect(try await add("/a", gid).json["result"] as? String == gid)
            for wrong in [gid, "0000000000000000", "abc"] {
                let answer = try await add("/b", wrong)
                #expect(answer.status == 400 && answer.text.contains("No URI to download."), "\(answer.text)")
            }
            #expect(try await add("/a", "00000000000000a2").status == 200, "another download of the same file")
            _ = try await caller.call("remove", #""\#(gid)""#)
            try await until("the gid is free") { try await add("/c", gid).status == 200 }
            #expect(try await caller.path(gid, becomes: "paused") == "c")
        }
    }

    @Test func aLoginIsSentAndNotShown() async throws {
        try await withCaller { caller, server in
            server.handle(nil, "/private/*") { request in
                guard request.headers["Authorization"] == "Basic dTpzM2NyZXQ=" else {
                    return Response(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"d\""])
                }
                return Response(body: .text("x"))
            }
            let first = try await caller.add(
                server.url("/private/a"), #"{"http-user": "u", "http-passwd": "s3cret"}"#)
            let url = server.url("/private/b").replacingOccurrences(of: "://", with: "://u:s3cret@")
            let second = try await caller.add(url)
            for (gid, name) in [(first, "a"), (second, "b")] {
                #expect(try await caller.path(gid, becomes: "complete") == name)
                for method in ["tellStatus", "getOption"] {
                    #expect(try await !caller.call(method, #""\#(gid)""#).text.contains("s3cret"))
                }
            }
        }
    }

    @Test func aSpaceInAURLIsPercentEncoded() async throws {
        try await withCaller { caller, server in
            server.handle("GET", "/*") { _ in Response(body: .text("x")) }
            let gid = try await caller.add(server.url("/a b"))
            #expect(try await caller.path(gid, becomes: "complete") == "a b")
            #expect(server.requests.allSatisfy { $0.head.target == "/a%20b" })
        }
    }

    @Test func theURLsOfAPausedDownloadAreChanged() async throws {
        try await withCaller { caller, server in
            server.serve("/good", .random(seed: 1, count: 1000))
            let gid = try await caller.add(server.url("/missing"), #"{"out": "u.bin", "pause": "true"}"#)
            let (missing, good) = (server.url("/missing"), server.url("/good"))
            let changed = try await caller.call("changeUri", #""\#(gid)", 1, ["\#(missing)"], ["\#(good)"]"#)
            #expect(changed.json["result"] as? [Int] == [1, 1], "\(changed.text)")
            let uris = try await caller.call("getUris", #""\#(gid)""#).json["result"] as? [[String: String]]
            #expect(uris?.compactMap { $0["uri"] } == [good])
            for (parameters, words) in [
                (#"2, [], []"#, "fileIndex is out of range"), (#"0, [], []"#, "greater than or equal to 1"),
                (#"1, ["\#(good)"], []"#, "one URI at least"),
            ] {
                let refused = try await caller.call("changeUri", #""\#(gid)", \#(parameters)"#)
                #expect(refused.status == 400 && refused.text.contains(words), "\(refused.text)")
            }
            #expect(try await caller.call("getPeers", #""\#(gid)""#).json["result"] as? [String] == [])
            _ = try await caller.call("unpause", #""\#(gid)""#)
            #expect(try await caller.path(gid, becomes: "complete") == "u.bin")
            #expect(try await caller.call("getPeers", #""\#(gid)""#).text.contains("No peer data is available"))
        }
    }

    /// The stored job keeps the fingerprint of its first URLs, by which its partial file is known after a restart.
    @Test func aSecondChangeOfURLsKeepsThePartialFile() async throws {
        try await withCaller { caller, server in
            server.serve("/one", .random(seed: 1, count: 300_000), etag: "\"1\"")
            server.script("/one", [], afterwards: .stall(after: 100_000))
            let gid = try await caller.add(server.url("/one"), #"{"out": "p.bin"}"#)
            try await until("a part is there") {
                Int(try await caller.status(gid)["completedLength"] as? String ?? "") ?? 0 > 0
            }
            _ = try await caller.call("pause", #""\#(gid)""#)
            try await until("it is paused") { try await caller.status(gid)["status"] as? String == "paused" }
            for path in ["/two", "/three"] {
                let changed = try await caller.call("changeUri", #""\#(gid)", 1, [], ["\#(server.url(path))"]"#)
                #expect(changed.json["result"] as? [Int] == [0, 1], "\(changed.text)")
            }
            try await caller.place.stop()
            let again = try await ServedPlace.start(in: caller.place.folder)
            let job = try await again.ask("/api/v1/jobs/\(gid)").json
            #expect(job["state"] as? String == "paused" && job["bytes"] as? Int ?? 0 > 0, "\(job)")
            try await again.stop()
        }
    }

    /// Names have no syntax of lists: neither braces nor blanks within them have a meaning. A line break is refused.
    @Test func namesAreTakenLiterally() async throws {
        try await withCaller { caller, _ in
            let name = "a {index} b header=X: 1.bin"
            let quoted = #""\#(name)""#
            let added = try await caller.call(
                "addUri", #"["http://192.0.2.1/x"], {"out": \#(quoted), "pause": "true"}"#)
            let gid = try #require(added.json["result"] as? String, "\(added.text)")
            let option = try await caller.call("getOption", #""\#(gid)""#).json["result"] as? [String: String]
            #expect(option?["out"] == name && option?["header"] == nil, "\(String(describing: option))")
            let document = """
                <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="in/{name} c.bin">
                <url>http://192.0.2.1/y</url></file></metalink>
                """
            let many = try await caller.call(
                "addMetalink", #""\#(Data(document.utf8).base64EncodedString())", {"pause": "true"}"#)
            let other = try #require((many.json["result"] as? [String])?.first, "\(many.text)")
            let second = try await caller.call("getOption", #""\#(other)""#).json["result"] as? [String: String]
            #expect(second?["out"] == "{name} c.bin", "\(String(describing: second))")
            for bad in [#"a\u0000b"#, #"a\n header=X: 1.bin"#] {
                let refused = try await caller.call(
                    "addUri", #"["http://192.0.2.1/x"], {"out": "\#(bad)", "pause": "true"}"#)
                #expect(refused.status == 400 && refused.text.contains("'--out'"), "\(refused.text)")
            }
            let outside = try await caller.call(
                "addUri", #"["http://192.0.2.1/x"], {"out": "../../x", "pause": "true"}"#)
            #expect(outside.status == 400, "\(outside.text)")
        }
    }
}
