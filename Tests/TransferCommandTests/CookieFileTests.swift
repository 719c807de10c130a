import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// A missing file of cookies, which is reported before any request as what it is.
@Suite(.timeLimit(.minutes(1))) struct CookieFileTests {
    @Test(
        arguments: [
            ["get", "https://a.example/x", "-b", "none.txt"], ["run", "jobs.json", "--load-cookies", "none.txt"],
            ["put", "jobs.json", "https://a.example/x", "--cookie", "none.txt"],
            ["watch", ".", "--to", "https://a.example/", "-b", "none.txt"],
        ])
    func aMissingFileOfAnOptionIsReportedFirst(_ arguments: [String]) async throws {
        let place = try Workplace()
        try place.jobs([download("https://a.example/x", to: "x")])
        let result = try await place.command(arguments).run()
        #expect(result.exitCode == 66, "\(result)")
        #expect(result.standardError.contains("--load-cookies: cannot read the file of cookies"), "\(result)")
        #expect(result.standardError.contains("none.txt: no such file or directory; export"), "\(result)")
        #expect(!result.standardError.contains("secret"), "\(result)")
        #expect(try place.traces() == [])
    }

    @Test(arguments: ["run", "validate"]) func aMissingFileOfAJobFileIsItsFault(_ verb: String) async throws {
        let place = try Workplace()
        try place.jobs([download("https://a.example/x", to: "x", #""cookies": "none.txt""#)])
        let result = try await place.run(verb, "jobs.json")
        #expect(result.exitCode == 65, "\(result)")
        #expect(result.standardError.contains("jobs.json:2:3: error: cannot read the file of cookies"), "\(result)")
        #expect(result.standardError.contains("$.jobs[0].cookies"), "\(result)")
    }

    /// A file that is removed later fails the job, and the message names it.
    @Test func aRemovedFileIsReportedByItsName() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try place.folder.write("# Netscape HTTP Cookie File\n", to: "cookies.txt")
            server.serve("/a", .text("a"))
            server.handle("GET", "/slow") { _ in Response(status: 503, headers: ["Retry-After": "300"]) }
            try place.jobs([download(server.url("/slow"), to: "a", #""cookies": "cookies.txt""#)])
            let first = try place.startJobs()
            try await first.event("batch.waiting")
            first.kill(SIGTERM)
            _ = try await first.result()
            #expect(unlink(place.folder.path("cookies.txt")) == 0)
            let again = try await place.runJobs()
            #expect(again.exitCode == 65 && again.standardError.contains("file of cookies"), "\(again)")
        }
    }
}
