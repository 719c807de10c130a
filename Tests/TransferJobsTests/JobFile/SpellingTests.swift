import Testing
import TransferQueueFixtures

@testable import TransferJobs

@Suite struct SpellingTests {
    @Test func aPlaceHasOneLaneAndOneIdentityInEachSpelling() {
        let written = [
            "http://bücher.example/ä b", "http://BÜCHER.example/ä%20b", "http://xn--bcher-kva.example/%C3%A4%20b",
        ]
        let uploads = written.map { JobSpec(work: .upload(JobSpec.Upload(source: "/s", url: $0))).spelt }
        #expect(Set(uploads.map { $0.origin(mirror: 0) }) == ["http://xn--bcher-kva.example"])
        #expect(Set(uploads.map(\.identity)) == ["http://xn--bcher-kva.example/%C3%A4%20b"])
        #expect(Set(uploads.map(\.fingerprint)).count == 1)
        let downloads = JobSpec(work: .download(JobSpec.Download(urls: written, destination: "f"))).spelt
        #expect(Set(downloads.urls).count == 1 && downloads.urls.count == 3)
    }

    @Test func needsAreFoundInEachSpelling() {
        let work = JobSpec.Work.download(JobSpec.Download(urls: ["http://h/x"], destination: "f"))
        let spec = JobSpec(work: work, needs: ["http://ü.example/a b", "ä b"]).spelt
        #expect(spec.needs == ["http://xn--tda.example/a%20b", "ä b"])
    }

    @Test(arguments: ["http://h/a b c.iso", "http://h/a b\thttp://h/c d"])
    func aSpaceInAListMayBeASeparator(_ line: String) throws {
        let reading = try read(line + "\n", as: .urlList)
        #expect(!reading.faults.isEmpty && reading.jobs.isEmpty)
        #expect(
            reading.faults.allSatisfy {
                $0.message == "a URL cannot hold a space; write %20, and a tab between two URLs"
            })
    }
}
