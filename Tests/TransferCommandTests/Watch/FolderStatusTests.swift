import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// `transfer status` of watched folders: the last upload, the waiting files, and the last error.
@Suite(.timeLimit(.minutes(1))) struct FolderStatusTests {
    @Test func aFoldersLastUploadWaitAndErrorAreReported() async throws {
        try await withTestServer { server in
            let place = try WatchPlace(server)
            server.handle("PUT", "/in/refused") { _ in Response(status: 403) }
            server.script("/in/held", method: "PUT", [.holdHead])
            let process = try place.start()
            try place.write("12345", to: "good")
            try await process.confirmed("good")
            try place.write("x", to: "refused")
            try await process.event("job.failed")
            try place.write("1234567", to: "held")
            try await process.event("job.started") { $0["url"]?.string?.hasSuffix("/held") == true }
            let name = "watch:\(place.path)"
            let status = try #require(try await place.place.status(name).first)
            let folder = try #require(status["folder"])
            #expect(folder["path"]?.string == place.path && folder["last"]?["path"]?.string == "good", "\(status)")
            #expect(folder["waiting"]?.int == 1 && folder["waitingBytes"]?.int == 7, "\(status)")
            #expect(folder["oldest"]?["path"]?.string == "held" && folder["oldest"]?["time"] != nil, "\(status)")
            #expect(folder["error"]?["message"]?.string == "403 Forbidden", "\(status)")
            let table = try await place.place.run("status").standardOutput
            #expect(
                table.contains("\(name): last upload 20") && table.contains(", good; 1 file waits, 7 B"), "\(table)")
            #expect(table.contains(", refused: 403 Forbidden; transfer why \(name)/"), "\(table)")
            // The command is the suggested one.
            let why = try #require(table.split(separator: "\n").first { $0.contains("transfer why ") })
            let command = String(why.split(separator: "; ").last ?? "").split(separator: " ").dropFirst()
            let explained = try await place.place.command(command.map(String.init)).run()
            #expect(explained.standardOutput.contains("failed: 403 Forbidden"), "\(explained)")
            try await server.waitForHeld(1)
            server.release()
            try await place.stop(process)
        }
    }
}
