import Testing
import TransferJobs

@Suite struct JobReceiptTests {
    private func receipt(isUpload: Bool) -> JobReceipt {
        JobReceipt(
            batch: "b", job: "x", isUpload: isUpload, bytes: 1024, transferred: 1024, seconds: 0.3456,
            finalURL: "https://h.example/x", path: "/srv/x", status: 200, attempts: 1)
    }

    @Test func aReceiptPrintsAsALine() {
        #expect("\(receipt(isUpload: false))" == "b/x: downloaded 1024 bytes to /srv/x in 0.35 s")
        #expect("\(receipt(isUpload: true))" == "b/x: uploaded 1024 bytes from /srv/x to https://h.example/x in 0.35 s")
    }
}
