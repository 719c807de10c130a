import Testing
import TransferCore

@Suite struct RepresentationLabelsTests {
    @Test func theServersLabelsOfAFileAreRead() {
        let head = ResponseHead(
            status: 200,
            fields: [
                HeaderField("Content-Type", "text/plain; charset=utf-8"), HeaderField("Content-Encoding", "gzip"),
                HeaderField("Content-Disposition", "attachment"), HeaderField("Content-Language", "de"),
                HeaderField("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ])
        let labels = RepresentationLabels(head)
        #expect(
            labels
                == RepresentationLabels(
                    type: "text/plain; charset=utf-8", coding: "gzip", disposition: "attachment", language: "de",
                    modified: 784_111_777))
        #expect(
            labels.contentFields.map(\.name).sorted() == [
                "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Type",
            ])
        #expect(labels.timeFields.value("X-OC-Mtime") == "784111777")
        #expect(labels.timeFields.value("Last-Modified") == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test(
        arguments: [
            ("aws-chunked", nil), ("aws-chunked, gzip", "gzip"), ("gzip,br", "gzip, br"), ("identity", nil), ("", nil),
        ] as [(String, String?)])
    func theFrameOfARequestIsNoCodingOfTheFile(_ reported: String, _ stored: String?) {
        let head = ResponseHead(status: 200, fields: [HeaderField("Content-Encoding", reported)])
        #expect(RepresentationLabels(head).coding == stored)
    }

    @Test func aSilentServerLabelsNothing() {
        let labels = RepresentationLabels(ResponseHead(status: 200, fields: []))
        #expect(labels == RepresentationLabels() && labels.contentFields.isEmpty && labels.timeFields.isEmpty)
    }

    @Test func codingsAreComparedWithoutRegardToCaseAndBlanks() {
        #expect(RepresentationLabels.isSameCoding("GZip, br", "gzip,br"))
        #expect(RepresentationLabels.isSameCoding(nil, nil))
        #expect(!RepresentationLabels.isSameCoding("gzip", nil))
    }

    @Test func aTimeInDigitsIsFTPs() {
        #expect(HTTPDate.digits(784_111_777) == "19941106084937")
        #expect(HTTPDate.digits(-1) == "19691231235959")
    }
}
