import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Schedules, which apply to every route.
@Suite struct ScheduledJobTests {
    @Test func transfersToThisMachineWaitForTheScheduleToo() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            for name in ["closed", "open"] { server.serve("/\(name)", .text(name)) }
            try place.folder.write("up", to: "up")
            // The command's clock is UTC here. The window is two hours later: no test takes so long.
            let hour = (Int(Date().timeIntervalSince1970) / 3600 + 2) % 24
            let closed = String(format: "%02d:00-%02d:00", hour, (hour + 1) % 24)
            let open = String(format: "%02d:00-%02d:00", (hour + 21) % 24, (hour + 1) % 24)
            let rule = #""network": {"schedule": "\#(closed)"}"#
            let local = server.url("/closed").replacingOccurrences(of: "127.0.0.1", with: "localhost")
            try place.jobs([
                download(server.url("/closed"), to: "c", #""id": "c", \#(rule)"#),
                download(local, to: "l", #""id": "l", \#(rule)"#),
                upload("up", to: server.url("/up"), #""id": "u", \#(rule)"#),
                download(server.url("/open"), to: "o", #""id": "o", "network": {"schedule": "\#(open)"}"#),
            ])
            let process = try place.startJobs()
            try await process.event("job.finished", id: "o")
            try await process.event("batch.waiting") { $0["for"]?.string == "schedule" }
            let why = try await place.run("why", "batch/c")
            #expect(why.standardOutput.contains("outside its schedule"), "\(why)")
            process.kill(SIGTERM)
            _ = try await process.result()
            #expect(server.requests.map(\.path) == ["/open"])
        }
    }
}
