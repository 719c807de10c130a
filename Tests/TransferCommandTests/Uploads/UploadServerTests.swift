import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The users' settings for upload servers, as they reach the servers.
@Suite(.timeLimit(.minutes(2))) struct UploadServerTests {
    /// The files are those of the AWS tools, with more than one profile in them.
    @Test func credentialsRegionAndEndpointAreReadFromTheFilesOfAProfile() async throws {
        try await withTestServer { server in
            let place = try place()
            let sink = server.acceptUploads("/bucket/*")
            try place.folder.write(
                "# two of them\n[default]\naws_access_key_id = wrong\naws_secret_access_key = wrong\n\n[lab]\n"
                    + "aws_access_key_id = AKIDLAB\naws_secret_access_key = secret\naws_session_token = token\n",
                to: "home/.aws/credentials")
            try place.folder.write(
                "[profile lab]\nregion = eu-central-1\nendpoint_url = http://127.0.0.1:\(server.port)\n",
                to: "home/.aws/config")
            let result = try await place.run("put", "out.bin", "s3://bucket/dir/f", "--profile", "lab")
            #expect(result.exitCode == 0, "\(result)")
            #expect(try sink.uploads.map(\.bytes) == [place.content("out.bin")])
            try expectSigned(server.requests, "AKIDLAB", "eu-central-1")
        }
    }

    @Test func aFailureNamesTheServerThatAnObjectIsAt() async throws {
        let place = try place()
        let port = try LoopbackPort.free()
        try place.jobs(
            [upload("out.bin", to: "s3://bucket/f")], extra: #""defaults": {"retry": {"limit": 0}}, "#)
        var command = place.command(["run", "jobs.json"])
        command.environment.merge(
            [
                "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_ENDPOINT_URL": "http://127.0.0.1:\(port)",
            ]) { $1 }
        let result = try await command.run()
        #expect(result.exitCode == 1, "\(result)")
        #expect(result.standardError.contains("  127.0.0.1:\(port)  "), "\(result)")
    }

    @Test func theEnvironmentNamesAServerOfObjectsToo() async throws {
        try await withTestServer { server in
            let place = try place()
            server.serve("/bucket/dir/f", .bytes(try place.content("out.bin")), etag: "\"v\"")
            server.script("/bucket/dir/f", [.cut(after: 100_000)])
            var command = place.command(["get", "s3://bucket/dir/f", "-o", "got.bin"])
            command.environment.merge(
                [
                    "AWS_ACCESS_KEY_ID": "AKIDENV", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "token",
                    "AWS_REGION": "us-west-2", "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:\(server.port)",
                ]) { $1 }
            let result = try await command.run()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.content("got.bin") == place.content("out.bin"))
            #expect(server.requests.last?.headers["Range"] == "bytes=100000-")
            try expectSigned(server.requests, "AKIDENV", "us-west-2")
        }
    }

    /// The extensions that a tus server offers are used where the job requests them.
    @Test(arguments: [
        (#""checksum": "sha1""#, ["OPTIONS", "POST", "PATCH", "PATCH", "PATCH"], [0, 0, 80_000, 80_000, 40_000]),
        (#""createWithUpload": true"#, ["OPTIONS", "POST", "PATCH", "PATCH"], [0, 80_000, 80_000, 40_000]),
    ])
    func extensionsOfATusServerAreUsed(_ members: String, _ methods: [String], _ lengths: [Int64]) async throws {
        try await withTestServer { server in
            let place = try place()
            let service = server.serve("/files*", TusService(endpoint: "/files"))
            let tus = #""protocol": "tus", "chunkSize": 80000, "tus": {\#(members)}"#
            try place.jobs([upload("out.bin", to: server.url("/files"), tus)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            let sent = try place.content("out.bin")
            #expect(service.with { $0.finished.map(\.bytes) } == [sent])
            #expect(server.requests.map(\.method) == methods && server.requests.map(\.bodyLength) == lengths)
            for request in server.requests where request.method == "PATCH" && members.contains("checksum") {
                #expect(request.headers["Upload-Checksum"]?.hasPrefix("sha1 ") == true)
            }
        }
    }

    @Test(arguments: ["", #", "createFolders": true"#, #", "protocol": "post""#, #", "protocol": "multipart""#])
    func aSourceThatChangesWhileItIsSentFailsOnRequest(_ more: String) async throws {
        try await withTestServer { server in
            let place = try place()
            let sink = server.acceptUploads("/in")
            server.limitReceiveBuffer(4096)
            server.script("/in", [.stallUpload(after: 1000)])
            try place.jobs([
                upload("out.bin", to: server.url("/in"), #""id": "up", "ifChanged": "fail""# + more)
            ])
            let process = try place.startJobs()
            try await server.waitForHeld(1)
            try place.folder.write(count: 200_000, seed: 4, to: "out.bin")
            server.release()
            let result = try await process.result()
            #expect(result.exitCode == 1, "\(result)")
            let end = try result.events().of("up").named("job.failed").first
            #expect(end?["code"]?.string == "sourceChanged", "\(result)")
            #expect(sink.uploads.allSatisfy { !$0.isComplete })
        }
    }

    @Test(arguments: ["", #", "createFolders": true"#, #", "protocol": "tus""#])
    func aSourceThatChangedAfterItsProcessDiedFailsOnRequest(_ more: String) async throws {
        try await withTestServer { server in
            let place = try place()
            server.acceptUploads("/in")
            server.script("/in", [.stallUpload(after: 0)])
            try place.jobs([
                upload("out.bin", to: server.url("/in"), #""id": "up", "ifChanged": "fail""# + more)
            ])
            let process = try place.startJobs()
            try await server.waitForHeld(1)
            process.kill(SIGKILL)
            _ = try await process.result()
            server.release()
            try place.folder.write(count: 200_000, seed: 4, to: "out.bin")
            let count = server.requests.count
            for _ in 1...2 {
                let result = try await place.runJobs()
                #expect(result.exitCode == 1, "\(result)")
                let end = try result.events().of("up").named("job.failed").first
                #expect(end?["code"]?.string == "sourceChanged", "\(result)")
            }
            #expect(server.requests.count == count)
        }
    }

    /// No version is recorded of a file that never left.
    @Test func aSourceThatChangedBeforeAnythingWasSentIsSentAsItIs() async throws {
        let place = try place()
        let port = try LoopbackPort.free()
        try place.jobs([upload("out.bin", to: "http://127.0.0.1:\(port)/in", #""ifChanged": "fail""#)])
        let process = try place.startJobs()
        try await process.event("job.retrying")
        try place.folder.write(count: 200_000, seed: 4, to: "out.bin")
        let result = try await process.result()
        #expect(result.exitCode == 1, "\(result)")
        #expect(try result.events().named("job.failed").first?["code"]?.string != "sourceChanged", "\(result)")
    }

    private func place() throws -> Workplace {
        let place = try Workplace()
        try place.folder.write(count: 200_000, seed: 3, to: "out.bin")
        return place
    }

    private func expectSigned(_ requests: [RecordedRequest], _ key: String, _ region: String) throws {
        #expect(!requests.isEmpty)
        for request in requests {
            let field = try #require(request.headers["Authorization"])
            #expect(field.contains("Credential=\(key)/") && field.contains("/\(region)/s3/aws4_request"))
            #expect(request.headers["X-Amz-Security-Token"] == "token")
        }
    }
}
