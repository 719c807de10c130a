import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The manual's example of nginx with TLS, in front of a service.
@Suite(.timeLimit(.minutes(2))) struct ReverseProxyTests {
    /// Returns the lines of the example that forward to the service.
    private static func location(port: String) throws -> String {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("man/transfer.1")
        let text = try String(contentsOf: page, encoding: .utf8)
        let parts = text.components(separatedBy: "    location / {\n")
        let block = try #require(parts.last?.components(separatedBy: "\n    }").first)
        return block.replacingOccurrences(of: "127.0.0.1:6800", with: "127.0.0.1:\(port)")
    }

    @Test func theManualsExampleBringsTheNetworkToAService() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 1000))
            let origin = "https://files.example"
            try await withService(ServedPlace.options + ["--allow-origin", origin]) { place in
                var options = NginxServer.Options()
                options.certificate = try await ServerCertificate.make(in: place.folder)
                options.location = try Self.location(port: place.port)
                let nginx = try await NginxServer.start(root: place.folder.path("files"), options: options)
                let outside = ServedPlace(
                    folder: place.folder, process: place.process, url: "https://127.0.0.1:\(nginx.port)",
                    secret: place.secret)
                let name = ["Host: files.example", "Origin: \(origin)"]
                let status = try await outside.ask("/api/v1/status", headers: name, curl: ["-k", "--http1.1"])
                #expect(status.status == 200, "\(status.text)")
                let foreign = try await outside.ask(
                    "/api/v1/status", headers: ["Host: other.example"], curl: ["-k", "--http1.1"])
                #expect(foreign.status == 421)
                let job = try await outside.ask(
                    "/api/v1/jobs", json: job(server.url("/a"), to: "a"), headers: name, curl: ["-k", "--http1.1"])
                _ = try await place.job(try #require(job.json["gid"] as? String), becomes: "done")
                // Events arrive at once, and not only when a buffer is full.
                let stream = try ChildProcess.start(
                    ChildProcess.Command(
                        "/usr/bin/curl",
                        [
                            "-sSNk", "--noproxy", "*", "-H", "Host: files.example", "-H", "Last-Event-ID: 0",
                            "-H", "Authorization: Bearer \(place.secret)", outside.url + "/api/v1/events",
                        ], environment: ["PATH": "/usr/bin:/bin"]))
                _ = try await stream.line(.standardOutput) { $0.hasPrefix("event: job.finished") }
                stream.kill(SIGKILL)
                await nginx.stop()
            }
        }
    }
}
