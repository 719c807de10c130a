import Foundation
import Glibc
import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport

/// `--compressed` and the key `compressed`: files are transferred compressed and stored decoded.
@Suite(.timeLimit(.minutes(2))) struct CompressedTests {
    private static let content = Content.random(seed: 5, count: 1_500_000)

    /// Serves the file with this coding.
    private func serve(
        _ server: TestServer, _ coding: StoredCoding = .gzip, _ change: ([UInt8]) -> [UInt8] = { $0 },
        _ faults: [Fault] = []
    ) {
        let coded = change(coding.coded(Self.content.bytes()))
        server.serve(
            "/f",
            ServedFile(
                .bytes(coded), etag: "\"c\"", headers: ["Content-Encoding": coding.rawValue, "Vary": "Accept-Encoding"])
        )
        server.script("/f", faults)
    }

    /// Returns whether every request asked for the whole file.
    private func askedForAll(_ server: TestServer) -> Bool {
        server.requests.allSatisfy { $0.method == "GET" && $0.headers["Range"] == nil }
    }

    @Test(arguments: StoredCoding.allCases)
    func aFileIsStoredDecodedAndItsChecksumIsThatOfWhatIsStored(_ coding: StoredCoding) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            serve(server, coding)
            let sum = try await digest("sha256", Self.content.bytes())
            let result = try await place.run(
                "get", "--compressed", "--json", "--checksum", "sha256:\(sum)", "-o", "f", server.url("/f"))
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.content("f") == Self.content.bytes())
            let accepted = try #require(server.requests.first?.headers["Accept-Encoding"])
            #expect(accepted.hasSuffix("gzip, deflate"))
            #expect(try result.events().named("job.finished").first?["bytes"] == .integer(1_500_000))
            #expect(askedForAll(server) && server.requests.count == 1)

            let again = try await place.run(
                "get", "--compressed", "--checksum", "sha256:\(sum.reversed().map(String.init).joined())", "-o", "g",
                server.url("/f"))
            #expect(again.exitCode == 1 && !place.folder.exists("g") && !place.folder.exists("g.part"), "\(again)")
        }
    }

    /// The transferred bytes are fewer than the stored ones, and no part of them.
    @Test func aCompressedTransferIsReported() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let coded = StoredCoding.gzip.coded([UInt8](repeating: 0x61, count: 1 << 20))
            server.serve("/f", ServedFile(.bytes(coded), headers: ["Content-Encoding": "gzip"]))
            let result = try await place.run("get", "--compressed", "-v", "-o", "f", server.url("/f"))
            #expect(result.exitCode == 0 && result.standardError.contains("fetched 1.00 MiB in "), "\(result)")
            #expect(
                result.standardError.contains(", compressed as \(ByteCount.format(Int64(coded.count))) (gzip), "),
                "\(result)")
            #expect(!result.standardError.contains("of it now"), "\(result)")
        }
    }

    @Test func aCutOrDamagedStreamIsFetchedAgainFromTheStart() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            serve(server)
            let coded = StoredCoding.gzip.coded(Self.content.bytes())
            var damaged = coded
            damaged[700_000] ^= 1
            let fields: HeaderFields = ["Content-Encoding": "gzip"]
            server.script(
                "/f",
                [
                    .cut(after: 1_000_000), .noContentLength.and(.cut(after: 1_000_000)),
                    .status(200, headers: fields, body: .bytes(damaged)),
                    .status(200, headers: fields, body: .bytes(coded.dropLast(8))),
                ])
            try place.jobs([download(server.url("/f"), to: "f", #""compressed": true"#)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.content("f") == Self.content.bytes())
            #expect(server.requests.count == 5 && askedForAll(server))
            let reasons = try result.events().named("job.retrying").compactMap { $0["reason"]?.string }
            #expect(reasons.count == 4 && reasons.filter { $0.contains("cannot be decoded") }.count == 3, "\(reasons)")
        }
    }

    @Test func aStreamWithoutAValidEndIsNeverKept() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            serve(server, .gzip, { Array($0.dropLast(4)) })
            try place.jobs(
                [download(server.url("/f"), to: "f", #""compressed": true, "retry": {"limit": 2, "scale": 0}"#)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 1 && server.requests.count == 3, "\(result)")
            let failed = try result.events().named("job.failed").first
            #expect(failed?["message"]?.string?.contains("its gzip stream ends early") == true, "\(result)")
            #expect(try place.traces().filter { $0.hasPrefix("f") } == [])
        }
    }

    @Test func aKilledRunBeginsAnewAndLeavesNoOtherFile() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            serve(server, .gzip, { $0 }, [.stall(after: 900_000)])
            try place.jobs([download(server.url("/f"), to: "f", #""compressed": true"#)])
            let process = try place.startJobs()
            try await until("bytes") { (place.folder.size("f.part") ?? 0) > 500_000 }
            process.kill(SIGKILL)
            #expect(try await process.result().signal == SIGKILL)
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.content("f") == Self.content.bytes())
            #expect(server.requests.count == 2 && askedForAll(server))
            #expect(try place.traces().filter { $0.hasPrefix("f") } == ["f"])
            // A complete file is not fetched again.
            #expect(try await place.runJobs().exitCode == 0)
            #expect(server.requests.count == 2)
        }
    }

    /// Bytes of an earlier run without the key belong to a different representation.
    @Test func aFileBegunWithoutTheKeyBeginsAnew() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/f", ServedFile(Self.content, etag: "\"a\""))
            server.script("/f", [.stall(after: 900_000)])
            try place.jobs([download(server.url("/f"), to: "f")])
            let process = try place.startJobs()
            try await until("bytes") { (place.folder.size("f.part") ?? 0) > 500_000 }
            process.kill(SIGKILL)
            _ = try await process.result()
            serve(server)
            try place.jobs([download(server.url("/f"), to: "f", #""compressed": true"#)])
            #expect(try await place.runJobs().exitCode == 0)
            #expect(try place.content("f") == Self.content.bytes())
            #expect(server.requests.last?.headers["Range"] == nil)
        }
    }

    /// A file of 8 MiB would be split without the key.
    @Test func aCompressedFileHasOneConnectionForAnyDefaults() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let content = Content.random(seed: 1, count: 8 << 20)
            server.serve("/f", ServedFile(content, etag: "\"a\""))
            try place.jobs(
                [download(server.url("/f"), to: "f", #""compressed": true"#)], extra: #""defaults": {"segments": 4}, "#)
            #expect(try await place.runJobs().exitCode == 0)
            #expect(server.requests.count == 1 && askedForAll(server))
            #expect(try content.firstDifference(fromFileAt: place.folder.path("f")) == nil)
        }
    }

    @Test func segmentsOfACompressedFileAreAnExplainedFault() async throws {
        let place = try Workplace()
        try place.jobs([download("http://127.0.0.1:9/f", to: "f", #""segments": 4, "compressed": true"#)])
        let job = try await place.run("validate", "jobs.json")
        #expect(job.exitCode == 65 && job.standardError.contains(#""segments" and "compressed" do not go together"#))
        try place.jobs(
            [download("http://127.0.0.1:9/f", to: "f")],
            extra: #""defaults": {"compressed": true, "segments": 4}, "#)
        let defaults = try await place.run("validate", "jobs.json")
        #expect(defaults.exitCode == 65 && defaults.standardError.contains("do not go together"), "\(defaults)")
        for words in [["get", "http://127.0.0.1:9/f"], ["run", "jobs.json"]] {
            let result = try await place.command(words + ["--segments", "4", "--compressed"]).run()
            #expect(result.exitCode == 64 && result.standardError.contains("--segments and --compressed"), "\(result)")
        }
    }

    /// The declared size is the limit: a decompression bomb exceeds it.
    @Test func aDecompressionBombEndsAtTheDeclaredSizeAndLeavesNothing() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let script = "head -c \(200 << 20) /dev/zero | gzip -9 >'\(place.folder.path("bomb"))'"
            _ = try await ChildProcess.start(ChildProcess.Command("/bin/sh", ["-c", script])).result()
            server.serve(
                "/f", ServedFile(.bytes(try place.content("bomb")), headers: ["Content-Encoding": "gzip"]))
            try place.jobs([download(server.url("/f"), to: "f", #""compressed": true, "size": 1000000"#)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 1 && server.requests.count == 1, "\(result)")
            let message = try result.events().named("job.failed").first?["message"]?.string
            #expect(message?.contains("larger than 1000000 bytes when it is decoded") == true, "\(result)")
            #expect(!place.folder.exists("f") && !place.folder.exists("f.part"))
        }
    }

    @Test func anUnknownCodingFailsAtOnce() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/f", ServedFile(.text("uryyb"), headers: ["Content-Encoding": "rot13"]))
            let result = try await place.run("get", "--compressed", "-o", "f", server.url("/f"))
            #expect(result.exitCode == 1 && server.requests.count == 1, "\(result)")
            #expect(result.standardError.contains("rot13") && !place.folder.exists("f"))
        }
    }

    @Test func aCodedFileIsStoredUnchangedWithoutTheKey() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            serve(server)
            #expect(try await place.run("get", "-o", "f", server.url("/f")).exitCode == 0)
            #expect(try place.content("f") == StoredCoding.gzip.coded(Self.content.bytes()))
            #expect(server.requests.first?.headers["Accept-Encoding"] == "identity")
        }
    }

    /// A damaged part on the disk has no range that a server knows.
    @Test func aDamagedFileIsRepairedAsAWhole() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            serve(server)
            try place.jobs([download(server.url("/f"), to: "f", #""compressed": true"#)])
            #expect(try await place.runJobs().exitCode == 0)
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: place.folder.path("f")))
            try file.seek(toOffset: 1_400_000)
            try file.write(contentsOf: Data(repeating: 0, count: 100))
            try file.close()
            #expect(try await place.run("verify", "batch").exitCode == 1)
            let result = try await place.run("verify", "batch", "--repair")
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.content("f") == Self.content.bytes())
            #expect(server.requests.allSatisfy { $0.headers["Range"] == nil }, "\(server.requests)")
        }
    }
}
