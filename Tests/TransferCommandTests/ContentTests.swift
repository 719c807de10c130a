import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Checksums, mirrors and the order of jobs.
@Suite struct ContentTests {
    let content = Content.random(seed: 11, count: 200_000)

    @Test(arguments: ["md5", "sha1", "sha256", "sha512"])
    func aChecksumOfEachKindVerifiesAndRefuses(_ algorithm: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", content)
            let sum = try await digest(algorithm, content.bytes())
            let wrong = String(sum.reversed())
            try place.jobs([
                download(server.url("/a"), to: "right", #""checksum": "\#(algorithm):\#(sum)""#),
                download(
                    server.url("/a"), to: "upper", #""checksum": "\#(algorithm.uppercased()):\#(sum.uppercased())""#),
                download(server.url("/a"), to: "wrong", #""checksum": "\#(algorithm):\#(wrong)""#),
            ])
            let result = try await place.runJobs()
            #expect(result.exitCode == 1, "\(result)")
            let events = try result.events()
            #expect(events.ends == ["right": "finished", "upper": "finished", "wrong": "failed"])
            #expect(events.of("right").named("job.finished").first?["digest"]?.string == "\(algorithm):\(sum)")
            let failed = try #require(events.of("wrong").named("job.failed").first)
            #expect(failed["code"]?.string == "checksumMismatch")
            #expect(
                failed["message"]?.string
                    == "\(algorithm) differs: expected \(wrong.prefix(12))…, got \(sum.prefix(12))…")
            #expect(failed["attempts"]?.int == 1, "the same bytes would come again")
            #expect(!place.folder.exists("wrong") && !place.folder.exists("wrong.part"))
        }
    }

    @Test func aChecksumOfAResumedFileIsThatOfTheWhole() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", content, etag: "\"a1\"")
            server.script("/a", [.cut(after: 70_000), .cut(after: 70_000)])
            let sum = try await digest("sha256", content.bytes())
            try place.jobs([download(server.url("/a"), to: "a", #""checksum": "sha256:\#(sum)""#)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.map(\.range) == [nil, "bytes=70000-", "bytes=140000-"])
            #expect(server.requests.map(\.ifRange) == [nil, "\"a1\"", "\"a1\""])
            #expect(server.bytesSent("/a") == 200_000)
            #expect(try result.events().named("job.started").map { $0["offset"]?.int } == [0, 70_000, 140_000])
        }
    }

    @Test func aListOfChecksumsVerifies() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", content)
            server.serve("/b", .text("not b"))
            let sum = try await digest("sha256", content.bytes())
            try place.folder.write("\(sum)  a\n\(sum) *b\n", to: "SHA256SUMS")
            try place.jobs(
                [download(server.url("/a"), to: "a"), download(server.url("/b"), to: "b")],
                extra: #""defaults": {"checksums": "SHA256SUMS"}, "#)
            let result = try await place.runJobs()
            #expect(try result.events().ends == ["a": "finished", "b": "failed"], "\(result)")
        }
    }

    // MARK: Mirrors

    @Test func aMirrorStepsInForA404() async throws {
        try await withTestServer { first in
            try await withTestServer { second in
                let place = try Workplace()
                second.serve("/b", content)
                try place.jobs([#"{"download": ["\#(first.url("/gone"))", "\#(second.url("/b"))"], "to": "a"}"#])
                let result = try await place.runJobs()
                #expect(result.exitCode == 0, "\(result)")
                #expect(first.requests.count == 1 && second.requests.count == 1)
                #expect(try content.firstDifference(fromFileAt: place.folder.path("a")) == nil)
                #expect(try result.events().named("job.finished").first?["finalURL"]?.string == second.url("/b"))
            }
        }
    }

    @Test func aMirrorContinuesAfterADroppedConnection() async throws {
        try await withTestServer { first in
            try await withTestServer { second in
                let place = try Workplace()
                first.serve("/a", content, etag: "\"a1\"")
                first.script("/a", [], afterwards: .cut(after: 50_000))
                second.serve("/a", content, etag: "\"b1\"")
                let sum = try await digest("sha256", content.bytes())
                try place.jobs([
                    #"{"download": ["\#(first.url("/a"))", "\#(second.url("/a"))"], "to": "a", "checksum": "sha256:\#(sum)"}"#
                ])
                let result = try await place.runJobs()
                #expect(result.exitCode == 0, "\(result)")
                #expect(
                    second.requests.first?.range == "bytes=50000-", "a digest of the whole allows to go on elsewhere")
                #expect(try content.firstDifference(fromFileAt: place.folder.path("a")) == nil)
            }
        }
    }

    /// Without a digest the bytes of two mirrors are never mixed.
    @Test func withoutAChecksumAnotherMirrorStartsFromZero() async throws {
        try await withTestServer { first in
            try await withTestServer { second in
                let place = try Workplace()
                let other = Content.random(seed: 99, count: 200_000)
                first.serve("/a", content, etag: "\"same\"")
                first.script("/a", [], afterwards: .cut(after: 50_000))
                second.serve("/a", other, etag: "\"same\"")
                try place.jobs([#"{"download": ["\#(first.url("/a"))", "\#(second.url("/a"))"], "to": "a"}"#])
                let result = try await place.runJobs()
                #expect(result.exitCode == 0, "\(result)")
                #expect(second.requests.first?.range == nil)
                #expect(try other.firstDifference(fromFileAt: place.folder.path("a")) == nil)
            }
        }
    }

    @Test func aMirrorThatServesAnotherFileIsLeft() async throws {
        try await withTestServer { first in
            try await withTestServer { second in
                let place = try Workplace()
                first.serve("/a", .text("something else"))
                second.serve("/a", content)
                let sum = try await digest("sha256", content.bytes())
                try place.jobs([
                    #"{"download": ["\#(first.url("/a"))", "\#(second.url("/a"))"], "to": "a", "checksum": "sha256:\#(sum)"}"#
                ])
                let result = try await place.runJobs()
                #expect(result.exitCode == 0, "\(result)")
                #expect(try content.firstDifference(fromFileAt: place.folder.path("a")) == nil)
            }
        }
    }

    @Test func whenNoMirrorHasItTheJobFailsOnce() async throws {
        try await withTestServer { first in
            try await withTestServer { second in
                let place = try Workplace()
                try place.jobs([#"{"download": ["\#(first.url("/a"))", "\#(second.url("/a"))"], "to": "a"}"#])
                let result = try await place.runJobs()
                #expect(result.exitCode == 1)
                #expect(try result.events().ends == ["a": "failed"])
                #expect(first.requests.count == 1 && second.requests.count == 1)
            }
        }
    }

    // MARK: Needs

    @Test func aJobStartsOnceItsNeedsAreComplete() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            for name in ["a", "b", "c", "d"] { server.serve("/\(name)", .text(name)) }
            server.script("/a", [.holdHead])
            try place.jobs([
                download(server.url("/d"), to: "d", #""id": "d", "needs": ["b", "c"]"#),
                download(server.url("/c"), to: "c", #""id": "c", "needs": ["a"]"#),
                download(server.url("/b"), to: "b", #""id": "b""#),
                download(server.url("/a"), to: "a", #""id": "a""#),
            ])
            let process = try place.startJobs()
            try await process.event("job.finished", id: "b")
            #expect(server.requests(to: "/c").isEmpty && server.requests(to: "/d").isEmpty)
            try await server.waitForHeld(1)
            server.release("/a")
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            let order = try result.events().compactMap { event in
                ["job.started", "job.finished"].contains(event["event"]?.string) ? event : nil
            }.map { "\($0["event"]?.string?.dropFirst(4) ?? "") \($0["id"]?.string ?? "")" }
            let index = { (name: String) in order.firstIndex(of: name) ?? -1 }
            #expect(index("finished a") < index("started c"))
            #expect(index("finished c") < index("started d") && index("finished b") < index("started d"))
        }
    }

    @Test func allDependentsOfAFailedJobAreSkipped() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/b", .text("b"))
            server.serve("/c", .text("c"))
            try place.jobs([
                download(server.url("/missing"), to: "a", #""id": "a""#),
                download(server.url("/b"), to: "b", #""id": "b", "needs": ["a"]"#),
                download(server.url("/c"), to: "c", #""id": "c", "needs": ["b"]"#),
            ])
            let result = try await place.runJobs()
            #expect(result.exitCode == 1, "\(result)")
            #expect(try result.events().ends == ["a": "failed", "b": "skipped", "c": "skipped"])
            #expect(try result.events().of("b").named("job.skipped").first?["need"]?.string == "a")
            #expect(server.requests.count == 1)
            // The rest follows once the need is there.
            server.serve("/missing", .text("a"))
            let again = try await place.runJobs()
            #expect(again.exitCode == 0, "\(again)")
            #expect(try again.events().ends == ["a": "finished", "b": "finished", "c": "finished"])
        }
    }

    @Test func higherPrioritiesStartFirst() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            for name in ["low", "mid", "high"] { server.serve("/\(name)", .text(name)) }
            try place.jobs([
                download(server.url("/low"), to: "low", #""priority": -5"#), download(server.url("/mid"), to: "mid"),
                download(server.url("/high"), to: "high", #""priority": 10"#),
            ])
            #expect(try await place.runJobs("-j", "1").exitCode == 0)
            #expect(server.requests.map(\.path) == ["/high", "/mid", "/low"])
        }
    }
}
