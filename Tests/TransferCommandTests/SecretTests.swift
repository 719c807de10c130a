import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Secrets reach the server they are for, and nothing else: no output, no report, no byte of the state folder.
@Suite struct SecretTests {
    @Test func secretsAreNowhere() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/header", .text("x"))
            server.handle("GET", "/basic") { request in
                request.headers["Authorization"] == nil
                    ? Response(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"x\""])
                    : Response(body: .text("x"))
            }
            server.serve("/signed", .random(seed: 1, count: 200_000), etag: "\"1\"")
            server.script("/signed", [.cut(after: 100_000), .status(500)])
            server.script("/redirected", [], afterwards: .redirect(to: "/signed?X-Amz-Signature=redirecthunter"))
            server.script("/lost", [], afterwards: .status(403))
            try place.folder.write("filehunter\n", to: "secret.txt")
            try place.jobs([
                download(
                    server.url("/header"), to: "header",
                    #""headers": {"Authorization": {"env": "TOKEN"}, "X-Api-Key": {"file": "secret.txt"}}"#),
                download(
                    server.url("/basic"), to: "basic", #""auth": {"user": "me", "password": {"env": "PASSWORD"}}"#),
                download(server.url("/signed?X-Amz-Signature=queryhunter&X-Amz-Credential=credhunter"), to: "signed"),
                download(server.url("/redirected"), to: "redirected"),
                download(server.url("/lost?sig=losthunter&token=tokenhunter"), to: "lost"),
            ])
            var command = place.command(["run", "jobs.json", "--json=progress", "-v", "--report", "report.jsonl"])
            command.environment["TOKEN"] = "Bearer envhunter"
            command.environment["PASSWORD"] = "passhunter"
            let result = try await command.run()
            #expect(try result.events().ends["lost"] == "failed")
            #expect(try result.events().ends.values.filter { $0 == "finished" }.count == 4, "\(result)")

            // The secrets were used.
            #expect(server.requests(to: "/header").first?.headers["Authorization"] == "Bearer envhunter")
            #expect(server.requests(to: "/header").first?.headers["X-Api-Key"] == "filehunter")
            let basic = "Basic " + Data("me:passhunter".utf8).base64EncodedString()
            #expect(server.requests(to: "/basic").last?.headers["Authorization"] == basic)
            #expect(server.requests.contains { $0.query?.contains("queryhunter") == true })

            let status = try await place.run("status", "batch", "--failed", "--json")
            for secret in [
                "envhunter", "passhunter", "filehunter", "queryhunter", "credhunter", "redirecthunter", "losthunter",
                "tokenhunter", Data("me:passhunter".utf8).base64EncodedString(),
            ] {
                #expect(!result.standardOutput.contains(secret), "\(secret) on standard output")
                #expect(!result.standardError.contains(secret), "\(secret) on standard error")
                #expect(!status.standardOutput.contains(secret), "\(secret) in the status")
                #expect(try place.secretIsNowhere(secret, but: ["jobs.json", "secret.txt"]))
            }
        }
    }

    /// During a run that is killed, the journal of the database holds the latest writes.
    @Test func theJournalHoldsNoSecrets() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .random(seed: 1, count: 200_000), etag: "\"1\"")
            server.script("/a", [.stall(after: 100_000)])
            try place.jobs([download(server.url("/a?X-Amz-Signature=queryhunter"), to: "a")])
            let process = try place.startJobs()
            try await server.waitForHeld(1)
            process.kill(SIGKILL)
            _ = try await process.result()
            #expect(try place.secretIsNowhere("queryhunter", but: ["jobs.json"]))
            // The next run reads the secret from the job file.
            let again = try await place.runJobs()
            #expect(again.exitCode == 0, "\(again)")
            #expect(server.requests.last?.query == "X-Amz-Signature=queryhunter")
        }
    }

    @Test func theUserOfAnHTTPURLLogsIn() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.handle("GET", "/a") { request in
                request.headers["Authorization"] == nil
                    ? Response(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"x\""])
                    : Response(body: .text("x"))
            }
            var command = place.command([
                "get", "http://me@127.0.0.1:\(server.port)/a", "--password", "$PASSWORD", "--json", "-v",
            ])
            command.environment["PASSWORD"] = "userhunter"
            let result = try await command.run()
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.last?.headers["Authorization"] == "Basic bWU6dXNlcmh1bnRlcg==")
            #expect(!result.standardError.contains("userhunter") && !result.standardOutput.contains("userhunter"))
            #expect(try place.secretIsNowhere("userhunter"))
        }
    }

    @Test func aSecretOnTheCommandLineIsRefusedWithoutRepeatingIt() async throws {
        let place = try Workplace()
        let result = try await place.run("get", "http://127.0.0.1:1/a", "-H", "Authorization: Bearer hunter2")
        #expect(result.exitCode == 64)
        #expect(!result.standardError.contains("hunter2"), "\(result)")
        #expect(!result.standardOutput.contains("hunter2"))
    }

    @Test func aMissingSecretFailsItsJobByName() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try place.jobs([
                download(server.url("/a"), to: "a", #""headers": {"Authorization": {"env": "NO_SUCH"}}"#),
                download(server.url("/b"), to: "b", #""headers": {"Authorization": {"file": "/no/such"}}"#),
                download(server.url("/c"), to: "c", #""headers": {"Authorization": {"credential": "none"}}"#),
            ])
            let result = try await place.runJobs()
            let messages = try result.events().named("job.failed").compactMap { $0["message"]?.string }.sorted()
            #expect(
                messages == [
                    "cannot read the secret in /no/such: no such file or directory", "no credential \"none\" was given",
                    "the environment variable NO_SUCH is not set",
                ], "\(result)")
            #expect(server.requests.isEmpty)
            #expect(!place.folder.exists("a.part"))
        }
    }

    @Test func aSecretWithALineBreakIsRefused() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            try place.jobs([download(server.url("/a"), to: "a", #""headers": {"Authorization": {"env": "TOKEN"}}"#)])
            var command = place.command(["run", "jobs.json"])
            command.environment["TOKEN"] = "x\r\nX-Evil: hunter2"
            let result = try await command.run()
            #expect(result.exitCode == 1)
            #expect(server.requests.isEmpty)
            #expect(!result.standardError.contains("hunter2"))
        }
    }

    @Test func credentialsOfSystemdAreRead() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            try place.folder.write("Bearer credhunter\n", to: "credentials/api")
            try place.jobs([
                download(server.url("/a"), to: "a", #""headers": {"Authorization": {"credential": "api"}}"#)
            ])
            var command = place.command(["run", "jobs.json"])
            command.environment["CREDENTIALS_DIRECTORY"] = place.folder.path("credentials")
            #expect(try await command.run().exitCode == 0)
            #expect(server.requests.first?.headers["Authorization"] == "Bearer credhunter")
        }
    }
}
