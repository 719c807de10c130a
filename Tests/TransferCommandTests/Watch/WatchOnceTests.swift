import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// `watch --once`: a folder as it is now, remembered, with an end.
@Suite(.timeLimit(.minutes(1))) struct WatchOnceTests {
    @Test func aFolderIsTakenOnceAndAgainOnlyWhatIsNew() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let sink = server.acceptUploads("/in/*")
            for name in ["a", "b"] { try place.folder.write(name, to: "out/\(name)") }
            let words = ["watch", "out", "--to", server.url("/in/"), "--once", "--settle", "10ms"]
            let first = try await place.command(words).run()
            #expect(first.exitCode == 0, "\(first)")
            #expect(sink.uploads.map(\.path).sorted() == ["/in/a", "/in/b"])
            try place.folder.write("c", to: "out/c")
            let second = try await place.command(words).run()
            #expect(second.exitCode == 0, "\(second)")
            #expect(sink.uploads.map(\.path).sorted() == ["/in/a", "/in/b", "/in/c"])
            let third = try await place.command(words + ["--then", "delete"]).run()
            #expect(third.exitCode == 0 && sink.uploads.count == 3, "\(third)")
        }
    }

    @Test func aRefusedFileAndAMissingFolderAreToldByTheStatus() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.script("/in/a", [], afterwards: .status(403))
            try place.folder.write("a", to: "out/a")
            let words = ["watch", "out", "--to", server.url("/in/"), "--once", "--settle", "10ms"]
            let refused = try await place.command(words).run()
            #expect(refused.exitCode == 1 && refused.standardError.contains("403"), "\(refused)")
            let missing = try await place.run("watch", "nowhere", "--to", server.url("/in/"), "--once")
            #expect(missing.exitCode == 64 && missing.standardError.contains("nowhere"), "\(missing)")
        }
    }
}
