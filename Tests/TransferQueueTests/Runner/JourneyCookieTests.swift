import Foundation
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs

/// Cookies from the answers to a job's requests, in whole runs.
@Suite("Cookies of a job's hops", .timeLimit(.minutes(1))) struct JourneyCookieTests {
    let folder: TemporaryFolder
    let content = Content.random(seed: 1, count: 100_000)

    init() throws { folder = try TemporaryFolder("journey") }

    private static func setting(_ fields: String..., to location: String, status: Int = 302) -> Fault {
        var headers: HeaderFields = ["Location": location]
        for field in fields { headers.add("Set-Cookie", field) }
        return .status(status, headers: headers)
    }

    private func download(_ url: String, id: String = "f", settings: JobSettings = Sample.quick) -> JobSpec {
        Sample.download(url, to: folder.path("out/\(id)"), id: id, settings: settings)
    }

    /// Completes the jobs one after the other.
    private func complete(_ jobs: [JobSpec]) async throws -> BatchTotals {
        try await withQueue(folder, limits: BatchLimits(concurrency: 1)) { queue in try await queue.complete(jobs) }
    }

    @Test func aRedirectThatSetsACookieOpensTheFile() async throws {
        try await withTestServer { server in
            server.handle("GET", "/f") { request in
                request.headers["Cookie"] == "session=1"
                    ? Response(status: 200, body: .text("there"))
                    : Response(status: 302, headers: ["Location": "/door", "Set-Cookie": "session=1; Path=/"])
            }
            server.script("/door", [], afterwards: .redirect(to: "/f"))
            let totals = try await complete([download(server.url("/f"))])
            #expect(totals.completed == 1)
            #expect(try folder.text("out/f") == "there")
            #expect(server.requests.map { $0.headers["Cookie"] } == [nil, "session=1", "session=1"])
        }
    }

    @Test func aNewAttemptBeginsWithoutCookiesAndGoesThroughTheHopsAgain() async throws {
        try await withTestServer { server in
            server.serve("/f", content, etag: "\"1\"")
            let door = Fault.redirect(to: "/door")
            server.script("/f", [door, .cut(after: 60_000), door])
            server.script(
                "/door", [Self.setting("s=1", to: "/f"), Self.setting("s=2", to: "/f")])
            let totals = try await complete([download(server.url("/f"))])
            #expect(totals.completed == 1)
            #expect(try folder.data("out/f") == Data(content.bytes()))
            let asked = server.requests(to: "/f")
            #expect(asked.map { $0.headers["Cookie"] } == [nil, "s=1", nil, "s=2"])
            #expect(asked.last?.headers["Range"] == "bytes=60000-" && asked.last?.status == 206)
        }
    }

    @Test func jobsShareNoCookies() async throws {
        try await withTestServer { server in
            for name in ["a", "b"] {
                server.serve("/\(name)", .text(name))
                server.script("/\(name)", [Self.setting("who=\(name)", to: "/\(name)")])
            }
            let totals = try await complete(["a", "b"].map { download(server.url("/\($0)"), id: $0) })
            #expect(totals.completed == 2)
            for name in ["a", "b"] {
                #expect(server.requests(to: "/\(name)").map { $0.headers["Cookie"] } == [nil, "who=\(name)"])
            }
        }
    }

    @Test func cookiesAreNotWrittenAnywhere() async throws {
        try await withTestServer { server in
            server.serve("/f", content, etag: "\"1\"")
            server.script(
                "/f", [Self.setting("session=hunter2hunter2", to: "/f"), .cut(after: 60_000), .status(404)])
            let totals = try await complete([download(server.url("/f"))])
            #expect(totals.failed == 1)
            #expect(server.requests.count == 3)
            for file in try folder.files() {
                let data = try folder.data(file)
                #expect(data.range(of: Data("hunter2hunter2".utf8)) == nil, "\(file)")
            }
        }
    }

    /// The cookies of one hop that the rules allow on the next hop: see "Cookie rules" for all rules.
    @Test(
        arguments: [
            ("c=1", "/f", true), ("c=1; Path=/other", "/f", false), ("c=1; Secure", "/f", false),
            ("c=1; Domain=example.com", "/f", false), ("c=1; Max-Age=0", "/f", false),
            ("c=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "/f", false),
            ("c=1; Path=/", "http://localhost:PORT/f", false),
        ] as [(String, String, Bool)])
    func theNextHopGetsItsCookies(_ field: String, _ location: String, _ isSent: Bool) async throws {
        try await withTestServer { server in
            server.serve("/f", .text("there"))
            let port = server.url("").split(separator: ":").last.map(String.init) ?? ""
            let location = location.replacingOccurrences(of: "PORT", with: port)
            server.script("/start", [], afterwards: Self.setting(field, to: location))
            let totals = try await complete([download(server.url("/start"))])
            #expect(totals.completed == 1)
            #expect(server.requests(to: "/f").map { $0.headers["Cookie"] } == [isSent ? "c=1" : nil])
        }
    }

    @Test func aJobsOwnCookieFieldStaysAsItIsWritten() async throws {
        try await withTestServer { server in
            try await withTestServer { other in
                server.serve("/f", .text("there"))
                server.script("/f", [Self.setting("set=1; Path=/", to: "/same")])
                server.script("/same", [], afterwards: .redirect(to: other.url("/away")))
                other.script("/away", [], afterwards: Self.setting("away=1; Path=/", to: server.url("/f")))
                var settings = Sample.quick
                settings.headers = [.init(name: "Cookie", value: .literal("own=1"))]
                let totals = try await complete([download(server.url("/f"), settings: settings)])
                #expect(totals.completed == 1)
                #expect(server.requests(to: "/same").map { $0.headers["Cookie"] } == ["own=1"])
                // Cookies are independent of ports (RFC 6265 §8.5). The job's own field depends on the port, and is not
                // sent again after the redirect.
                #expect(other.requests.map { $0.headers["Cookie"] } == ["set=1"])
                #expect(
                    server.requests(to: "/f").map { $0.headers["Cookie"] } == ["own=1", "set=1; away=1"])
            }
        }
    }

    @Test func anUploadCarriesCookiesThroughARedirect() async throws {
        try await withTestServer { server in
            let source = try folder.write("body", to: "source")
            server.acceptUploads("/g")
            server.script("/f", [], afterwards: Self.setting("s=1; Path=/", to: "/g", status: 307))
            let totals = try await complete([Sample.upload(source, to: server.url("/f"), id: "u")])
            #expect(totals.completed == 1)
            #expect(server.requests(to: "/g").map { $0.headers["Cookie"] } == ["s=1"])
        }
    }

    @Test func requestsOfOneUploadShareCookies() async throws {
        try await withTestServer { server in
            let source = try folder.write(String(repeating: "x", count: 5000), to: "source")
            server.serve("/files*", TusService(endpoint: "/files"))
            server.script("/files", [.header("Set-Cookie", "node=7; Path=/")])
            let totals = try await complete([
                Sample.upload(source, to: server.url("/files"), id: "u", protocol: .tus)
            ])
            #expect(totals.completed == 1)
            #expect(server.requests.count > 1)
            #expect(server.requests.dropFirst().allSatisfy { $0.headers["Cookie"] == "node=7" })
        }
    }
}
