import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The attacks that the service withstands, each with its refusal.
@Suite(.timeLimit(.minutes(2))) struct AttackTests {
    /// A job that requests more than a client may have.
    struct Attack: Sendable, CustomTestStringConvertible {
        let name: String
        /// The job as JSON, in which `URL` stands for that of a public server.
        let job: String
        let code: String
        var status = 403

        var testDescription: String { name }
    }

    static let attacks = [
        Attack(name: "a path above the folder", job: #"{"download": "URL", "to": "../out"}"#, code: "outsideFolder"),
        Attack(
            name: "an absolute path elsewhere", job: #"{"download": "URL", "to": "/etc/out"}"#, code: "outsideFolder"),
        Attack(name: "a link out of the folder", job: #"{"download": "URL", "to": "link/out"}"#, code: "outsideFolder"),
        Attack(
            name: "a link to a file elsewhere", job: #"{"download": "URL", "to": "filelink"}"#, code: "outsideFolder"),
        Attack(
            name: "a source elsewhere", job: #"{"upload": "/etc/hostname", "to": "URL"}"#, code: "outsideFolder"),
        Attack(name: "a source behind a link", job: #"{"upload": "filelink", "to": "URL"}"#, code: "outsideFolder"),
        Attack(
            name: "a variable", job: #"{"download": "URL", "to": "a", "headers": {"X": {"env": "SECRET"}}}"#,
            code: "secretRefused"),
        Attack(
            name: "a file's contents",
            job: #"{"download": "URL", "to": "a", "headers": {"X": {"file": "/etc/hostname"}}}"#, code: "secretRefused"),
        Attack(
            name: "a credential that was not allowed",
            job: #"{"download": "URL", "to": "a", "headers": {"X": {"credential": "other"}}}"#, code: "secretRefused"),
        Attack(
            name: "an allowed credential at another server",
            job: #"{"download": "URL", "to": "a", "headers": {"X": {"credential": "cdn"}}}"#, code: "secretRefused"),
        Attack(
            name: "netrc", job: #"{"download": "URL", "to": "a", "auth": {"netrc": true}}"#, code: "keyRefused"),
        Attack(
            name: "a proxy", job: #"{"download": "URL", "to": "a", "proxy": "http://p.example:1"}"#, code: "keyRefused"),
        Attack(
            name: "a client's certificate",
            job: #"{"download": "URL", "to": "a", "tls": {"cert": "/etc/c.pem"}}"#, code: "keyRefused"),
        Attack(
            name: "trust in whoever answers", job: #"{"download": "URL", "to": "a", "tls": {"insecure": true}}"#,
            code: "keyRefused"),
        Attack(
            name: "a file of cookies", job: #"{"download": "URL", "to": "a", "cookies": "/etc/cookies"}"#,
            code: "keyRefused"),
        Attack(
            name: "a command", job: #"{"download": "URL", "to": "a", "onFinish": "mail"}"#,
            code: "keyRefused"),
        Attack(
            name: "a webhook", job: #"{"download": "URL", "to": "a", "onFinish": {"url": "https://h.example/"}}"#,
            code: "keyRefused"),
        Attack(
            name: "the user's SSH keys", job: #"{"download": "sftp://h.example/a", "to": "a"}"#, code: "loginRefused"),
        Attack(name: "the user's S3 keys", job: #"{"download": "s3://bucket/key", "to": "a"}"#, code: "loginRefused"),
        Attack(
            name: "this machine", job: #"{"download": "http://127.0.0.1/", "to": "a"}"#, code: "privateAddress"),
        Attack(
            name: "this machine by its name", job: #"{"download": "http://localhost/", "to": "a"}"#,
            code: "privateAddress"),
        Attack(
            name: "this machine in another spelling", job: #"{"download": "http://[::ffff:127.0.0.1]/", "to": "a"}"#,
            code: "privateAddress"),
        Attack(
            name: "the cloud's metadata", job: #"{"download": "http://169.254.169.254/", "to": "a"}"#,
            code: "privateAddress"),
        Attack(
            name: "a private network", job: #"{"upload": "own", "to": "http://10.1.2.3/"}"#, code: "privateAddress"),
        Attack(
            name: "bounds that no job file can have",
            job: #"{"download": "URL", "to": "a", "confined": {"folder": "/"}}"#, code: "invalidJobs", status: 422),
        Attack(
            name: "a list of checksums of this machine",
            job: #"{"download": "URL", "to": "a", "checksums": "/etc/sums"}"#,
            code: "invalidJobs", status: 422),
        Attack(
            name: "a watched folder behind the jobs",
            job: #"{"download": "URL", "to": "a"}], "watch": [{"folder": "/etc", "to": "URL{name}"}], "x-": ["#,
            code: "keyRefused"),
    ]

    /// Runs a test with a service whose clients may use public servers only. Links in its folder lead out of it.
    private func strict(_ body: (ServedPlace) async throws -> Void) async throws {
        try await withService([
            "--secret", "$SECRET", "--read-secret", "$READER", "--allow-secret", "cdn=https://cdn.example",
        ]) {
            place in
            _ = try place.folder.write("mine", to: "files/own")
            try FileManager.default.createSymbolicLink(
                atPath: place.folder.path("files/link"), withDestinationPath: "/tmp")
            try FileManager.default.createSymbolicLink(
                atPath: place.folder.path("files/filelink"), withDestinationPath: "/etc/hostname")
            try await body(place)
        }
    }

    @Test func jobsFromOutsideNameNothingOfThisMachine() async throws {
        try await strict { place in
            for attack in Self.attacks {
                let job = attack.job.replacingOccurrences(of: "URL", with: "https://h.example/a")
                let answer = try await place.ask("/api/v1/jobs", json: job)
                #expect(
                    answer.status == attack.status && answer.json["code"] as? String == attack.code,
                    "\(attack.name): \(answer.status) \(answer.text)")
            }
            #expect((try await place.ask("/api/v1/jobs").json["jobs"] as? [Any])?.isEmpty == true)
        }
    }

    @Test func batchesFromOutsideHaveNoFoldersHooksOrLimits() async throws {
        try await strict { place in
            for key in [
                #""watch": [{"folder": "files", "to": "https://h.example/{name}"}]"#,
                #""onFinish": "mail""#, #""limits": {"concurrency": 1000}"#,
            ] {
                let file = #"{"version": 1, "name": "b", "jobs": [{"download": "https://h.example/a", "to": "a"}], "#
                let answer = try await place.ask("/api/v1/batches", json: file + key + "}")
                #expect(answer.status == 403 || answer.status == 422, "\(key): \(answer.text)")
            }
            #expect((try await place.ask("/api/v1/batches").json["batches"] as? [Any])?.isEmpty == true)
        }
    }

    @Test func anAddressIsJudgedWhereItIsConnectedTo() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 10))
            try await strict { place in
                // A name that looks public, but resolves to this machine.
                let port = server.url("/").split(separator: ":").last.map { $0.dropLast() } ?? ""
                for url in [
                    "http://localtest.invalid:\(port)/a", "http://0x7f000001:\(port)/a", "http://127.1:\(port)/a",
                ] {
                    let answer = try await place.ask("/api/v1/jobs", json: job(url, to: "a", #""retry": {"limit": 0}"#))
                    guard let gid = answer.json["gid"] as? String else { continue }
                    let failed = try await place.job(gid, becomes: "failed")
                    #expect(
                        ["addressRefused", "cannotResolveHost"].contains(failed["code"] as? String ?? ""), "\(failed)")
                }
            }
            #expect(server.requests.isEmpty, "nobody connected")
        }
    }

    @Test func namesAndPagesOfOthersAreRefused() async throws {
        try await strict { place in
            let rebound = try await place.ask("/api/v1/status", headers: ["Host: rebound.example"])
            #expect(rebound.status == 421)
            let page = try await place.ask("/api/v1/status", headers: ["Origin: https://evil.example"])
            #expect(page.status == 403 && page.field("Access-Control-Allow-Origin") == nil)
            let null = try await place.ask("/api/v1/status", headers: ["Origin: null"])
            #expect(null.status == 403)
            let own = try await place.ask("/api/v1/status", headers: ["Origin: \(place.url)"])
            #expect(own.status == 200)
        }
    }

    @Test func aNamedOriginMayReadAnswersAndNeedsTheSecretAllTheSame() async throws {
        try await withService(ServedPlace.options + ["--allow-origin", "https://ui.example"]) { place in
            let headers = ["Origin: https://ui.example"]
            let preflight = try await place.ask("/api/v1/jobs", method: "OPTIONS", headers: headers, secret: nil)
            #expect(preflight.status == 204 && preflight.field("Access-Control-Allow-Origin") == "https://ui.example")
            #expect(try await place.ask("/api/v1/status", headers: headers, secret: nil).status == 401)
            #expect(try await place.ask("/api/v1/status", headers: headers).status == 200)
            #expect(try await place.ask("/api/v1/status", headers: ["Host: ui.example"]).status == 200)
        }
    }

    @Test func readingRequestsChangeNothing() async throws {
        try await strict { place in
            let reader = "only-looking"
            #expect(try await place.ask("/api/v1/status", secret: reader).status == 200)
            let change = try await place.ask(
                "/api/v1/steer", json: #"{"action": "cancel", "select": "all"}"#, secret: reader)
            #expect(change.status == 403 && change.json["code"] as? String == "readOnly")
            #expect(try await place.ask("/api/v1/status", secret: nil).status == 401)
            #expect(try await place.ask("/healthz", secret: nil).status == 204)
        }
    }

    @Test func aBodyThatIsTooLongIsntRead() async throws {
        try await strict { place in
            let answer = try await place.ask("/api/v1/steer", json: String(repeating: " ", count: 2 << 20))
            #expect(answer.status == 413)
            let head = try await place.ask(
                "/api/v1/status", headers: ["X-Long: " + String(repeating: "a", count: 64 << 10)])
            #expect(head.status == 400 || head.status == 431)
            #expect(try await place.ask("/api/v1/status").status == 200, "others are still answered")
        }
    }

    @Test func bytesThatAreNoRequestLeaveTheServiceAlive() async throws {
        try await withService { place in
            let call = #"{"jsonrpc": "2.0", "id": 1, "method": "system.listMethods"}"#
            let upgrade =
                "GET /jsonrpc HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            // A call with a mask of zeros.
            let frame = Data([0x81, 0x80 | UInt8(call.utf8.count), 0, 0, 0, 0]) + Data(call.utf8)
            let early = try await place.exchange(Data((upgrade + "\r\n").utf8) + frame)
            #expect(early.contains("101 Switching Protocols") && early.contains("aria2.addUri"), "\(early)")
            let unmasked = try await place.exchange(
                Data((upgrade + "\r\n").utf8) + Data([0x81, UInt8(call.utf8.count)]) + Data(call.utf8))
            #expect(unmasked.contains("101 Switching Protocols") && !unmasked.contains("aria2"), "\(unmasked)")
            // An incomplete upgrade, followed by a request.
            let half = upgrade.replacingOccurrences(of: "Connection: Upgrade", with: "Connection: Upgsade") + "\r\n"
            let both = try await place.exchange(Data((half + "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").utf8))
            #expect(both.hasPrefix("HTTP/1.1 400"), "\(both)")
            let hosts = try await place.exchange(
                Data("GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n".utf8))
            #expect(hosts.hasPrefix("HTTP/1.1 400"), "\(hosts)")
            let second = try await place.exchange(Data((upgrade + "Host: evil.example\r\n\r\n").utf8) + frame)
            #expect(second.hasPrefix("HTTP/1.1 400"), "\(second)")
            let chunks = try await place.exchange(
                Data(
                    "POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n".utf8))
            #expect(chunks.hasPrefix("HTTP/1.1 400"), "\(chunks)")
            _ = try await place.exchange(Data([0x16, 0x03, 0x01, 0x00, 0xA5]))
            #expect(try await place.ask("/api/v1/status").status == 200 && place.process.isRunning)
        }
    }

    @Test func aHeadRequestOfAStreamFreesItsSlot() async throws {
        try await withService { place in
            let head =
                "HEAD /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(place.secret)\r\n\r\n"
            let answers = try await place.exchange(Data(String(repeating: head, count: 300).utf8))
            #expect(answers.components(separatedBy: "HTTP/1.1 200").count == 301)
        }
    }
}
