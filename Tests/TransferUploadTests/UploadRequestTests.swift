import Testing
import TransferUpload

@Suite struct UploadRequestTests {
    @Test func theBodysLengthCountsWhatStandsAroundTheSource() {
        let body = UploadRequest.Body.source(10..<30, prefix: [1, 2, 3], suffix: [4])
        #expect(body.length == 24)
        #expect(UploadRequest.Body.bytes([1, 2]).length == 2)
        #expect(UploadRequest.Body.none.length == 0)
    }
}
