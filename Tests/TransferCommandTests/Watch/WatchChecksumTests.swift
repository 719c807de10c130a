import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// `--checksum` with the protocols of file servers and S3: a file is deleted once the server's copy was compared with
/// it. (`WatchVerifyTests` covers HTTP.) The tests run one after the other: each starts servers of its own.
@Suite(.serialized, .timeLimit(.minutes(2))) struct WatchChecksumTests {
    // MARK: FTP and SFTP

    @Test(.enabled(if: FileServerKind.isWanted), arguments: FileServerKind.allCases)
    func aFileIsDeletedOnceItsServerHasGivenItBack(_ kind: FileServerKind) async throws {
        let bench = try await FileServerBench(kind)
        let sums = try await writeFiles(bench.place)
        let process = try start(bench)
        for name in ["large", "small"] { try await deleted(name, process) }
        try await stop(process, uploaded: 2)
        try await expectBoth(bench, sums)
        // SFTP's log does not show it.
        #expect(kind == .sftp || bench.commands("RETR") == 2)
    }

    @Test(.enabled(if: FileServerKind.isWanted), arguments: FileServerKind.allCases)
    func aFileThatItsServerHasOtherwiseStaysUntilARetrySendsItAgain(_ kind: FileServerKind) async throws {
        let bench = try await FileServerBench(kind)
        let sums = try await writeFiles(bench.place)
        bench.spoil("large")
        let process = try start(bench)
        let (job, message) = try await kept("large", "checksumMismatch", process)
        try await deleted("small", process)
        // The success of a different file says nothing about a damaged file.
        try bench.place.folder.write("third", to: "out/third")
        let third = try await bench.place.folder.sha256("out/third")
        try await deleted("third", process)
        #expect(try bench.place.folder.files(below: "out") == ["large"])
        let ours = try await bench.place.folder.sha256("out/large")
        let theirs = try await bench.sums()
        #expect(!theirs.contains(ours), "it is not spoilt")
        let isReported = theirs.contains {
            message.hasPrefix("the server has sha256:\($0) of large, which is sha256:\(ours)")
        }
        #expect(isReported, "\(message)")

        try await retry(job, bench.place)
        try await deleted("large", process)
        try await stop(process, uploaded: 3)
        try await expect(["large", "small", "third"], (sums + [third]).sorted(), bench)
    }

    /// The state of the server's file is unknown; once the server can be queried, no byte has to be sent for that.
    @Test(.enabled(if: FTPServer.isWanted), arguments: ["550 No downloads here", "502 Not implemented"])
    func aFileThatFTPDoesNotGiveBackStaysAndIsOnlyQueriedAgain(_ reply: String) async throws {
        var options = FTPServer.Options()
        options.replies = ["RETR": [reply]]
        let server = try await FTPServer.start(options)
        let place = try Workplace("checksum")
        try place.folder.write("x", to: "out/a")
        let process = try place.command(Self.watch(server.url("/"))).start()
        let (job, message) = try await kept("a", "digestUnknown", process)
        #expect(message.hasPrefix("a was uploaded, but whether it arrived unharmed is not known: "), "\(message)")
        #expect(message.contains(reply), "\(message)")
        #expect(place.folder.exists("out/a"))

        try await retry(job, place)
        try await deleted("a", process)
        try await stop(process, uploaded: 1)
        #expect(server.commands("STOR ").count == 1 && server.commands("RETR ").count == 2)
        #expect(try String(contentsOfFile: server.root + "/a", encoding: .utf8) == "x")
    }

    // MARK: S3

    /// The small file's tag is its MD5. The large one is sent in two parts, and its tag is no MD5: that object is read
    /// back.
    @Test(.enabled(if: PythonServer.isWanted), arguments: [false, true])
    func motosObjectsAreComparedByTheirTagsOrReadBack(_ isSpoilt: Bool) async throws {
        let peer = try await UploadPeerKind.moto.start()
        let relay = try FaultRelay(to: peer.port)
        defer { relay.stop() }
        let place = try Workplace("checksum")
        let sums = try await writeFiles(place, large: 6 << 20)
        if isSpoilt {
            relay.translate { piece in
                // Among all received pieces only an object's bytes have this length.
                guard piece.count > 4096 else { return piece }
                var changed = piece
                changed[changed.count - 1] ^= 0xFF
                return changed
            }
        }
        let process = try start(place, endpoint: "http://127.0.0.1:\(relay.port)")
        if isSpoilt {
            let (job, _) = try await kept("large", "checksumMismatch", process)
            try await deleted("small", process)
            #expect(try place.folder.files(below: "out") == ["large"])
            relay.translate { $0 }
            try await retry(job, place)
        }
        for name in ["large", "small"] { try await deleted(name, process) }
        try await stop(process, uploaded: 2)
        var objects: [String] = []
        for name in ["large", "small"] { objects.append(try await object(name, peer.port, place)) }
        #expect(objects.sorted() == sums)
    }

    /// One tag is no MD5, and one only looks like an MD5, as the tags of encrypted objects do.
    @Test(arguments: ["tag", "9e107d9d372bb6826bd81d3542a419d6"])
    func anObjectWhoseTagProvesNothingIsReadBack(_ tag: String) async throws {
        try await withTestServer { server in
            server.handle("PUT", "/bucket/in/*") { _ in Response(headers: ["ETag": "\"\(tag)\""]) }
            server.handle("GET", "/bucket/in/right") { _ in Response(body: .text("right")) }
            server.handle("GET", "/bucket/in/wrong") { _ in Response(body: .text("other")) }
            server.handle("GET", "/bucket/in/hidden") { _ in Response(status: 403) }
            let place = try Workplace("checksum")
            let names = ["hidden", "right", "wrong"]
            for name in names { try place.folder.write(name, to: "out/" + name) }
            let process = try start(place, endpoint: server.url(""))
            try await deleted("right", process)
            _ = try await kept("wrong", "checksumMismatch", process)
            let (_, message) = try await kept("hidden", "digestUnknown", process)
            #expect(message.contains("answered 403"), "\(message)")
            try await stop(process, uploaded: 1)
            #expect(try place.folder.files(below: "out") == ["hidden", "wrong"])
            for name in names {
                let requests = server.requests(to: "/bucket/in/" + name)
                // The file is sent once; an unconfirmed file is queried again when a different file has succeeded.
                #expect(Array(requests.map(\.method).prefix(2)) == ["PUT", "GET"])
                #expect(requests.dropFirst().allSatisfy { $0.method == "GET" })
                let isSigned = requests.allSatisfy { $0.headers["Authorization"]?.hasPrefix("AWS4-") == true }
                #expect(isSigned)
            }
        }
    }

    /// The first request goes to the wrong region, and its answer names the right one.
    @Test func anObjectInAnotherRegionIsReadBackThere() async throws {
        try await withTestServer { server in
            @Sendable func isThere(_ request: Request) -> Bool {
                request.headers["Authorization"]?.contains("/eu-west-1/s3/") == true
            }
            let elsewhere = Response(status: 400, headers: ["x-amz-bucket-region": "eu-west-1"])
            server.handle("PUT", "/bucket/in/a") { isThere($0) ? Response(headers: ["ETag": #""tag""#]) : elsewhere }
            server.handle("GET", "/bucket/in/a") { isThere($0) ? Response(body: .text("x")) : elsewhere }
            let place = try Workplace("checksum")
            try place.folder.write("x", to: "out/a")
            let process = try start(place, endpoint: server.url(""))
            try await deleted("a", process)
            try await stop(process, uploaded: 1)
            #expect(server.requests(to: "/bucket/in/a").map(\.method) == ["PUT", "PUT", "GET"])
        }
    }

    // MARK: The command

    private static func watch(_ url: String) -> [String] {
        ["watch", "out", "--to", url, "--settle", "50ms", "--checksum", "--then", "delete", "--json"]
    }

    /// Starts the command with options, where they suffice; a server's own authority is named in a job file.
    private func start(_ bench: FileServerBench) throws -> ChildProcess {
        let (place, url) = (bench.place, bench.url("in/"))
        switch bench.kind {
        case .sftp, .ftp:
            var options = ["--create-folders"]
            if let ssh = bench.sshServer {
                options += ["--known-hosts", place.folder.path("known_hosts"), "--ssh-key", ssh.userKey]
            }
            return try place.command(Self.watch(url) + options).start()
        case .ftpTLS, .ftps:
            try place.folder.write(
                """
                {"version": 1, "name": "svc", "watch": [
                 {"folder": "out", "to": "\(url)", "settle": "50ms", "checksum": true, "then": "delete",
                  "createFolders": true, \(bench.members)}]}
                """, to: "svc.json")
            return try place.command(["run", "svc.json", "--json"]).start()
        }
    }

    private func start(_ place: Workplace, endpoint: String) throws -> ChildProcess {
        var command = place.command(
            Self.watch("s3://bucket/in/") + ["--endpoint", endpoint, "--chunk-size", "5M"])
        command.environment["AWS_ACCESS_KEY_ID"] = "key"
        command.environment["AWS_SECRET_ACCESS_KEY"] = "secret"
        return try command.start()
    }

    private func deleted(_ name: String, _ process: ChildProcess) async throws {
        try await process.event("watch.deleted") { $0["path"]?.string == name }
    }

    /// Expects that the file stays, for the reason that its upload failed for.
    private func kept(
        _ name: String, _ code: String, _ process: ChildProcess
    ) async throws -> (job: String, message: String) {
        let stays = try await process.event("watch.stays") { $0["path"]?.string == name }
        let failed = try await process.event("job.failed") { $0["message"] == stays["message"] }
        #expect(stays["code"]?.string == code && failed["code"]?.string == code, "\(failed)")
        return (try #require(failed["id"]?.string), try #require(failed["message"]?.string))
    }

    private func retry(_ job: String, _ place: Workplace) async throws {
        let result = try await place.run("retry", "watch:\(place.folder.path("out"))/\(job)")
        #expect(result.exitCode == 0, "\(result)")
    }

    /// Stops the process, and expects a normal end.
    private func stop(_ process: ChildProcess, uploaded: Int) async throws {
        process.kill(SIGTERM)
        let result = try await process.result()
        #expect(result.exitCode == 0, "\(result)")
        #expect(result.standardError.contains(": stopped, \(uploaded) uploaded, "), "\(result)")
        #expect(try result.events().named("watch.confirmed").count == uploaded, "\(result)")
    }

    // MARK: Files

    /// - Returns: The SHA-256 of each file, sorted.
    private func writeFiles(_ place: Workplace, large: Int = 300_000) async throws -> [String] {
        try place.folder.write("small", to: "out/small")
        try place.folder.write(count: large, seed: 7, to: "out/large")
        var sums: [String] = []
        for name in ["large", "small"] { sums.append(try await place.folder.sha256("out/" + name)) }
        return sums.sorted()
    }

    /// Expects that both files are on the server, alone, and that they are deleted here.
    private func expectBoth(
        _ bench: FileServerBench, _ sums: [String], _ location: SourceLocation = #_sourceLocation
    ) async throws {
        try await expect(["large", "small"], sums, bench, location)
    }

    private func expect(
        _ files: [String], _ sums: [String], _ bench: FileServerBench,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let (names, there) = (bench.names().sorted(), try await bench.sums().sorted())
        #expect(names == files && there == sums, sourceLocation: location)
        #expect(try bench.place.folder.files(below: "out") == [], sourceLocation: location)
    }

    /// Returns the SHA-256 of an object that curl reads from moto; curl signs the request itself.
    private func object(_ name: String, _ port: UInt16, _ place: Workplace) async throws -> String {
        let arguments = [
            "-s", "-S", "-f", "--user", "key:secret", "--aws-sigv4", "aws:amz:us-east-1:s3", "-o",
            place.folder.path("back/" + name), "--create-dirs", "http://127.0.0.1:\(port)/bucket/in/\(name)",
        ]
        let result = try await ChildProcess.start(ChildProcess.Command("/usr/bin/curl", arguments)).result()
        #expect(result.exitCode == 0, "\(result)")
        return try await place.folder.sha256("back/" + name)
    }
}
