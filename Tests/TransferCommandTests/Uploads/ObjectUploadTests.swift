import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The options of uploads to `s3://`, by the command.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ObjectUploadTests {
    /// The sizes of an upload in one request, and of one in four parts, of 5 MiB except the last.
    static let sizes = [200_000, 16 << 20]

    @Test(arguments: sizes) func theBucketsOwnHostIsUsedOnRequest(_ size: Int) async throws {
        try await withTestServer { server in
            let objects = ObjectServer(server, object: "http://bucket.localhost/dir/f")
            let place = try place(
                size, s3: #""endpoint": "http://localhost:\#(server.port)", "style": "virtual-host""#)
            let result = try await place.runJobs()
            try expectTheObject(result, place, objects, size)
            #expect(server.requests.count == objects.requests.count)
            for request in objects.requests {
                #expect(request.headers["Host"] == "bucket.localhost:\(server.port)")
                #expect(signed(request).contains("host"))
            }
        }
    }

    @Test(arguments: sizes) func bucketsMayBeBeneathAPath(_ size: Int) async throws {
        try await withTestServer { server in
            let objects = ObjectServer(server, object: "/some/gate%20way/bucket/dir/f")
            let place = try place(size, s3: #""endpoint": "\#(server.url("/some/gate%20way/"))""#)
            let result = try await place.runJobs()
            try expectTheObject(result, place, objects, size)
            #expect(server.requests.count == objects.requests.count)
        }
    }

    @Test(arguments: ["md5", "stored-sha256"]) func theCommandLineChoosesTheProof(_ kind: String) async throws {
        try await withTestServer { server in
            let objects = ObjectServer(server, object: "/bucket/f")
            let place = try files(1000)
            var command = place.command(
                ["put", "f", "s3://bucket/f", "--endpoint", server.url(""), "--integrity", kind])
            command.environment["AWS_ACCESS_KEY_ID"] = "key"
            command.environment["AWS_SECRET_ACCESS_KEY"] = "secret"
            let result = try await command.run()
            #expect(result.exitCode == 0, "\(result)")
            let put = try #require(objects.bodies.first)
            #expect((put.headers["Content-MD5"] != nil) == (kind == "md5"))
            #expect((put.headers["x-amz-checksum-sha256"] != nil) == (kind == "stored-sha256"))
            let other = try await place.command(["put", "f", server.url("/f"), "--integrity", kind]).run()
            #expect(other.exitCode == 64 && other.standardError.contains("--integrity is for s3:// URLs"), "\(other)")
        }
    }

    @Test(arguments: sizes) func eachBodyHasItsMD5OnRequest(_ size: Int) async throws {
        try await withTestServer { server in
            let objects = ObjectServer(server, object: "/bucket/dir/f")
            let place = try place(size, s3: #""endpoint": "\#(server.url(""))", "integrity": "md5""#)
            let result = try await place.runJobs()
            try expectTheObject(result, place, objects, size)
            for request in objects.bodies {
                let digest = try await md5(request.body)
                #expect(request.headers["Content-MD5"] == digest)
                #expect(signed(request).contains("content-md5"))
                #expect(request.headers["x-amz-content-sha256"] == "UNSIGNED-PAYLOAD")
            }
        }
    }

    @Test(arguments: sizes) func metadataComesWithTheRequestThatMakesTheObject(_ size: Int) async throws {
        try await withTestServer { server in
            let objects = ObjectServer(server, object: "/bucket/dir/f")
            let place = try place(
                size, s3: #""endpoint": "\#(server.url(""))""#,
                #""metadata": {"colour": "dark blue", "who": {"file": "who"}}"#)
            let result = try await place.runJobs()
            try expectTheObject(result, place, objects, size)
            let creation = try #require(objects.creation)
            #expect(creation.headers["x-amz-meta-colour"] == "dark blue")
            #expect(creation.headers["x-amz-meta-who"] == "somebody")
            #expect(signed(creation).isSuperset(of: ["x-amz-meta-colour", "x-amz-meta-who"]))
            for request in objects.requests.dropFirst() { #expect(request.headers["x-amz-meta-colour"] == nil) }
        }
    }

    @Test(arguments: [2, 4]) func asManyPartsAsWantedAreUnderWayAtATime(_ count: Int) async throws {
        try await withTestServer { server in
            let objects = ObjectServer(server, object: "/bucket/dir/f")
            let stalls = Array(repeating: Fault.stallUpload(after: 1000), count: count)
            server.script("/bucket/dir/f", method: "PUT", stalls)
            // The object has one part more than the largest number of parts under way.
            let size = 21 << 20
            let place = try place(size, s3: #""endpoint": "\#(server.url(""))""#, #""parallel": \#(count)"#)
            let process = try place.startJobs()
            try await server.waitForHeld(count)
            #expect(server.requests.map(\.method) == ["POST"] + Array(repeating: "PUT", count: count))
            server.release()
            let result = try await process.result()
            try expectTheObject(result, place, objects, size)
        }
    }

    /// moto joins the parts itself, and returns the metadata.
    @Test(.enabled(if: PythonServer.isWanted)) func anotherServerHasTheSameObject() async throws {
        let peer = try await UploadPeerKind.moto.start()
        let place = try files(16 << 20)
        let (url, members) = peer.target(peer.port)
        let wanted = members.replacingOccurrences(of: #""parallel": 1"#, with: #""parallel": 4"#)
            .replacingOccurrences(of: #""s3": {"#, with: #""s3": {"integrity": "md5", "#)
        try place.jobs([upload("f", to: url, #""id": "f", "metadata": {"colour": "dark blue"}, \#(wanted)"#)])
        let result = try await place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        let (objects, expected) = (try await peer.objects(), try await place.folder.sha256("f"))
        #expect(objects == [expected])
        let object = "http://127.0.0.1:\(peer.port)/bucket/dir/f"
        let head = try await output("/usr/bin/curl", ["-s", "-S", "-I", object])
        #expect(head.lowercased().contains("x-amz-meta-colour: dark blue"), "\(head)")
    }

    private func files(_ size: Int) throws -> Workplace {
        let place = try Workplace("objects")
        try place.folder.write(count: size, seed: 7, to: "f")
        try place.folder.write("secret", to: "secret")
        try place.folder.write("somebody", to: "who")
        return place
    }

    private func place(_ size: Int, s3: String, _ more: String = "") throws -> Workplace {
        let place = try files(size)
        let access = #""s3": {\#(s3), "accessKey": "key", "secretKey": {"file": "secret"}}"#
        let members = [#""id": "f", "chunkSize": "5M""#, access, more].filter { !$0.isEmpty }
        try place.jobs([upload("f", to: "s3://bucket/dir/f", members.joined(separator: ", "))])
        return place
    }

    private func expectTheObject(
        _ result: ProcessResult, _ place: Workplace, _ objects: ObjectServer, _ size: Int,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(result.exitCode == 0, "\(result)", sourceLocation: location)
        let part = 5 << 20
        #expect(objects.bodies.count == (size + part - 1) / part, sourceLocation: location)
        let isSame = try Data(objects.object) == place.folder.data("f")
        #expect(isSame, "other bytes", sourceLocation: location)
    }

    /// Returns the names of the signed fields.
    private func signed(_ request: Request) -> Set<String> {
        let field = request.headers["Authorization"] ?? ""
        let names = field.firstMatch(of: /SignedHeaders=([^,]*)/)?.1 ?? ""
        return Set(names.split(separator: ";").map(String.init))
    }

    /// Returns the value of Content-MD5, computed by the system's own commands.
    private func md5(_ bytes: [UInt8]) async throws -> String {
        let folder = try TemporaryFolder("md5")
        let file = try folder.write(Data(bytes), to: "f")
        return try await output("/bin/sh", ["-c", "openssl dgst -md5 -binary '\(file)' | base64"])
            .filter { $0 != "\n" }
    }

    private func output(_ program: String, _ arguments: [String]) async throws -> String {
        let result = try await ChildProcess.start(ChildProcess.Command(program, arguments)).result()
        #expect(result.exitCode == 0, "\(result)")
        return result.standardOutput
    }
}
