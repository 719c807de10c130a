import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Times after 2262, which do not fit into the nanoseconds of other times.
@Suite(.timeLimit(.minutes(1))) struct FarTimesTests {
    private static let year2300 = 10_413_792_000

    @Test func aFileOfTheFutureIsUploaded() async throws {
        try await withTestServer { server in
            let sink = server.acceptUploads("/in/*")
            let place = try Workplace("far")
            try place.folder.write("later", to: "out/a")
            try place.folder.setTime("out/a", seconds: Self.year2300)
            #expect(try await place.run("put", "out/a", server.url("/in/a")).exitCode == 0)
            let watch = try place.command(
                ["watch", "out", "--to", server.url("/in/w/"), "--settle", "50ms", "--json"]
            ).start()
            try await watch.confirmed("a")
            watch.kill(SIGTERM)
            #expect(try await watch.result().exitCode == 0)
            #expect(sink.uploads.map(\.path) == ["/in/a", "/in/w/a"])
        }
    }

    @Test(arguments: ["Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 1601 00:00:00 GMT"])
    func aServerThatNamesAnotherAgeIsDownloadedFromTwice(_ date: String) async throws {
        try await withTestServer { server in
            server.handle("GET", "/a") { _ in
                Response(status: 200, headers: ["Last-Modified": date], body: .text("a"))
            }
            let place = try Workplace("far")
            for _ in 0..<2 {
                let result = try await place.run("get", server.url("/a"), "-o", "a", "--if-exists", "update")
                #expect(result.exitCode == 0, "\(result)")
                #expect(try place.folder.text("a") == "a")
            }
        }
    }
}
