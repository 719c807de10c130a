import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Downloads by `s3://` from servers of other authors; rclone's answers a range with 200.
@Suite(.timeLimit(.minutes(2))) struct RealObjectDownloadTests {
    @Test(arguments: UploadPeerKind.available.filter(\.isS3)) func aKilledDownloadContinues(_ kind: UploadPeerKind)
        async throws
    {
        let bench = try await UploadConformanceTests.Bench(kind)
        #expect(try await bench.place.runJobs().exitCode == 0)
        let (url, members) = bench.peer.target(bench.relay.port)
        let access = try #require(members.range(of: #""s3":"#).map { String(members[$0.lowerBound...]) })
        try bench.place.jobs([download(url, to: "g", #""limitRate": "4M", \#(access)"#)], name: "back")
        let process = try bench.place.startJobs()
        // The first 2 MiB may have no record.
        try await until("a part") { (bench.place.folder.size("g.part") ?? 0) >= 5 << 19 }
        process.kill(SIGKILL)
        _ = try await process.result()
        let kept = try #require(bench.place.folder.size("g.part"))
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        #expect(try bench.place.content("g") == bench.place.content("f"))
        let size = try #require(bench.place.folder.size("f"))
        let end = try result.events().named("job.finished").first
        #expect(end?["transferred"]?.int == size - kept, "\(result)")
    }

    @Test(arguments: UploadPeerKind.available.filter(\.isS3)) func severalConnectionsFetchOneFile(
        _ kind: UploadPeerKind
    ) async throws {
        let bench = try await UploadConformanceTests.Bench(kind)
        #expect(try await bench.place.runJobs().exitCode == 0)
        let (url, members) = bench.peer.target(bench.relay.port)
        let access = try #require(members.range(of: #""s3":"#).map { String(members[$0.lowerBound...]) })
        try bench.place.jobs(
            [download(url, to: "g", #""segments": 3, "limitRate": "4M", \#(access)"#)], name: "back")
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        #expect(try bench.place.content("g") == bench.place.content("f"))
    }
}
