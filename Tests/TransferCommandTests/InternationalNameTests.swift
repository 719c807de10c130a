import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Hosts with letters outside ASCII (RFC 5891, UTS 46), and URLs as people write them. The server acts as a proxy, as
/// such names do not resolve here: it sees the requested host.
@Suite("International names", .timeLimit(.minutes(2)))
struct InternationalNameTests {
    private static let host = "xn--bcher-kva.example"

    private func run(
        _ place: Workplace, _ server: TestServer, locale: String = "C", _ arguments: String...
    ) async throws -> ProcessResult {
        var command = place.command(arguments)
        command.environment["http_proxy"] = server.url("")
        command.environment["LC_ALL"] = locale
        return try await command.run()
    }

    @Test(arguments: ["C", "C.UTF-8"], ["bücher.example", "BÜCHER.example", "b%C3%BCcher.example", host])
    func aHostIsRequestedInASCIIForAnyLocale(_ locale: String, _ name: String) async throws {
        try await withTestServer { server in
            server.serve("/f", .text("hello"))
            let place = try Workplace()
            let result = try await run(place, server, locale: locale, "get", "-q", "-o", "f", "http://\(name)/f")
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.text("f") == "hello")
            #expect(server.requests.map(\.target) == ["http://\(Self.host)/f"])
            #expect(server.requests.first?.headers["Host"] == Self.host)
        }
    }

    @Test func jobsUploadsAndRedirectsUseTheSameHostName() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.script("/away", [], afterwards: .redirect(to: "http://bücher.example/ü b"))
            server.serve("/%C3%BC%20b", .text("hello"))
            let sink = server.acceptUploads("/in/*")
            try place.folder.write("out", to: "o.txt")
            try place.jobs([
                download("http://a.example/away", to: "x"), download("http://BÜCHER.example/ü b", to: "y"),
                upload("o.txt", to: "http://bücher.example/in/"),
            ])
            let result = try await run(place, server, "run", "jobs.json", "--json")
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.text("x") == "hello" && place.folder.text("y") == "hello")
            let hosts = server.requests.filter { $0.path != "/away" }.map { $0.headers["Host"] }
            #expect(hosts == Array(repeating: Self.host, count: 3))
            #expect(sink.uploads.map(\.path) == ["/in/o.txt"])
        }
    }

    @Test func aPutUsesTheASCIIHostName() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let sink = server.acceptUploads("/in/*")
            try place.folder.write("out", to: "ö b.txt")
            let result = try await run(place, server, "put", "ö b.txt", "http://bücher.example/in/ü d/")
            #expect(result.exitCode == 0, "\(result)")
            #expect(sink.uploads.map(\.path) == ["/in/%C3%BC%20d/%C3%B6%20b.txt"])
            #expect(server.requests.first?.headers["Host"] == Self.host)
        }
    }

    @Test func noProxyHoldsForEachSpelling() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try place.jobs([
                download(
                    "http://xn--bcher-kva.example/f", to: "x",
                    #""proxy": "\#(server.url(""))", "noProxy": "bücher.example", "retry": {"limit": 0}"#)
            ])
            let result = try await run(place, server, "run", "jobs.json", "--json")
            #expect(result.exitCode == 1 && server.requests.isEmpty, "\(result)")
        }
    }

    @Test(arguments: [
        ["get", "http://℀.example/f"], ["put", "o.txt", "http://ü\u{202E}.example/f"],
        ["watch", ".", "--to", "http://℀.example/"],
    ])
    func anInvalidNameIsRefusedAtOnce(_ arguments: [String]) async throws {
        let place = try Workplace()
        try place.folder.write("out", to: "o.txt")
        let result = try await place.command(arguments).run()
        #expect(result.exitCode == 64 && result.standardError.contains("the URL's host is no name: "), "\(result)")
        #expect(result.standardError.contains("in ASCII (xn--…)"))
    }

    @Test func aRedirectToAnInvalidNameIsReported() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.script("/away", [], afterwards: .redirect(to: "http://℀.example/f"))
            let result = try await place.run("get", "-o", "f", server.url("/away"))
            #expect(result.exitCode == 1 && result.standardError.contains("its host is no name: "), "\(result)")
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: ["/a b.iso", "/ü.iso", "/q?x=a b&y=ü", "/%20 %.iso", "/<\">.iso"])
    func aURLIsAcceptedAsItIsWritten(_ path: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.handle("GET", "/*") { _ in Response(body: .text("hello")) }
            let got = try await place.run("get", "-q", "-o", "got", server.url("") + path)
            try place.jobs([download(server.url("") + path.replacingOccurrences(of: "\"", with: "\\\""), to: "run")])
            let ran = try await place.runJobs()
            #expect(got.exitCode == 0 && ran.exitCode == 0, "\(got) \(ran)")
            let targets = server.requests.map(\.target)
            #expect(targets.count == 2 && Set(targets).count == 1)
            #expect(targets.allSatisfy { $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } })
        }
    }

    @Test(arguments: [("/x ", "ends with a space"), ("/x\ny", "cannot hold control characters")])
    func anObviousMistakeIsRefused(_ path: String, _ words: String) async throws {
        let result = try await Workplace().run("get", "http://h.example" + path)
        #expect(result.exitCode == 64 && result.standardError.contains(words), "\(result)")
    }
}
