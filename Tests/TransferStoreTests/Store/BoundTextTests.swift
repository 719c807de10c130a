import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

/// Texts of every length, which go into the database unchanged, with or without a preallocated buffer.
@Suite struct BoundTextTests {
    let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test(arguments: [0, 1, 100, 4000, 16 << 10, 40_000]) func aTextIsKeptWhole(_ count: Int) throws {
        let body = String(repeating: "é", count: count)
        let jobs = (0..<20).map { number in
            var job = Sample.download("http://h.example/\(number)", to: "\(number)")
            guard case .download(var download) = job.work else { return job }
            download.body = body + "\(number)"
            job.work = .download(download)
            return job
        }
        try fixture.stage(jobs, reserving: 8)
        let read = try fixture.raw.run("SELECT spec FROM job ORDER BY id").map {
            try JobSpec(canonicalJSON: $0[0] ?? "")
        }
        #expect(read == jobs)
    }

    @Test func originsOfNeighboursAreDistinguished() throws {
        let urls = [
            "http://h.example/a", "http://h.example/b", "http://h.example:81/c", "http://h.example.org/d",
            "https://h.example/e",
            "http://h.example/f", "HTTP://H.example/g", "http://h.example", "ftp://h.example/h",
        ]
        try fixture.stage(urls.map { Sample.download($0, to: $0.replacing("/", with: "_")) })
        let origins = try fixture.raw.run("SELECT origin FROM job ORDER BY id").map { $0[0] ?? "" }
        #expect(origins == urls.map { Origin(anyURL: $0)?.description ?? "" })
    }
}
