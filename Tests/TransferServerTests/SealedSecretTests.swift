import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Secrets that clients write out: signed URLs, cookies and logins. They survive the process and are not in the database.
@Suite(.timeLimit(.minutes(2))) struct SealedSecretTests {
    @Test func aJobWithASignedURLGoesOnAfterARestart() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 100_000), etag: "\"1\"")
            server.script("/a", [.stall(after: 50_000)])
            let place = try await ServedPlace.start()
            let url = server.url("/a") + "?X-Amz-Signature=0123456789abcdef0123"
            let answer = try await place.ask("/api/v1/jobs", json: job(url, to: "a"))
            let gid = try #require(answer.json["gid"] as? String)
            try await until("the bytes have come") {
                try await place.ask("/api/v1/jobs/\(gid)").json["bytes"] as? Int == 50_000
            }
            try await place.stop()
            server.script("/a", [])
            for file in try FileManager.default.contentsOfDirectory(atPath: place.folder.path("state")) {
                let bytes = try? Data(contentsOf: URL(fileURLWithPath: place.folder.path("state/\(file)")))
                #expect(bytes?.range(of: Data("0123456789abcdef0123".utf8)) == nil, "\(file) has the signature")
            }
            let again = try await ServedPlace.start(in: place.folder)
            _ = try await again.job(gid, becomes: "done")
            #expect(server.requests.last?.target.hasSuffix("X-Amz-Signature=0123456789abcdef0123") == true)
            #expect(server.requests.last?.range == "bytes=50000-")
            try await again.stop()
        }
    }

    /// Browser extensions hand over a download with the cookies of its page.
    @Test func aDownloadIsTakenWithTheCookiesOfItsPage() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 1000))
            try await withService { place in
                let options =
                    #"{"header": ["Cookie: session=abc", "User-Agent: Mozilla/5.0"], "split": 4, "pause": false}"#
                let call =
                    #"{"jsonrpc": "2.0", "id": 1, "method": "aria2.addUri", "params": ["token:letmein-please", [""#
                    + server.url("/a") + #""], "# + options + "]}"
                let answer = try await place.ask("/jsonrpc", json: call)
                #expect(answer.status == 200, "\(answer.text)")
                try await until("it is complete") { place.folder.size("files/a") == 1000 }
                #expect(server.requests.last?.headers["Cookie"] == "session=abc")
                let jobs = try await place.ask("/api/v1/jobs")
                #expect(!jobs.text.contains("session=abc"), "a secret is in no answer")
            }
        }
    }

    /// A program that repeats its submission with a newer signature has the job use that one.
    @Test func aRepeatedSubmissionRenewsTheSecret() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 1000))
            try await withService { place in
                let old = job(server.url("/a") + "?X-Amz-Signature=00000000000000000001", to: "a")
                let first = try await place.ask("/api/v1/jobs?paused=1", json: old)
                let gid = try #require(first.json["gid"] as? String)
                let new = job(server.url("/a") + "?X-Amz-Signature=00000000000000000002", to: "a")
                let second = try await place.ask("/api/v1/jobs?paused=1", json: new)
                #expect(second.json["same"] as? Int == 1 && second.json["gid"] as? String == gid, "\(second.text)")
                _ = try await place.ask(
                    "/api/v1/steer", json: #"{"action": "resume", "select": {"gids": ["\#(gid)"]}}"#)
                _ = try await place.job(gid, becomes: "done")
                #expect(server.requests.last?.target.hasSuffix("00000000000000000002") == true)
            }
        }
    }

    /// The signature has expired, and the batch's job file is submitted again with a newer one.
    @Test(arguments: ["/api/v1/jobs", "/api/v1/batches?name=b"])
    func aFailedJobIsTriedAgainWithANewSignature(_ route: String) async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 1000))
            server.script(
                "old", for: { $0.query?.hasSuffix("00000000000000000001") == true }, [], afterwards: .status(403))
            try await withService { place in
                func submission(_ number: Int) -> String {
                    let job = job(server.url("/a") + "?X-Amz-Signature=0000000000000000000\(number)", to: "a")
                    return route.contains("batches") ? #"{"version": 1, "jobs": [\#(job)]}"# : job
                }
                let first = try await place.ask(route, json: submission(1))
                #expect(first.status < 300, "\(first.text)")
                func gid() async throws -> String? {
                    let jobs = try await place.ask("/api/v1/jobs").json["jobs"] as? [[String: Any]]
                    return jobs?.first?["gid"] as? String
                }
                let number = try #require(try await gid())
                _ = try await place.job(number, becomes: "failed")
                let refused = server.requests.count
                let same = try await place.ask(route, json: submission(1))
                #expect(same.json["same"] as? Int == 1, "\(same.text)")
                let second = try await place.ask(route, json: submission(2))
                #expect(second.json["same"] as? Int == 1, "\(second.text)")
                _ = try await place.job(number, becomes: "done")
                #expect(server.requests.last?.target.hasSuffix("00000000000000000002") == true)
                #expect(server.requests.count == refused + 1, "the same signature is no reason for another attempt")
            }
        }
    }
}
