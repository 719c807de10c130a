@testable import TransferCore
@testable import TransferUpload

/// The check of S3's answers: any bytes are parsed to the extent possible, and escaped text reads back.
enum XMLCheck {
    static func check(_ bytes: [UInt8]) throws {
        if let root = XMLElement.read(bytes) { try require(depth(root) <= 32, "deeper than any answer") }
        _ = S3Answers.uploadID(bytes)
        _ = S3Answers.completed(bytes)
        for upload in S3Answers.UploadsPage(bytes)?.uploads ?? [] { _ = upload.initiated }
        if let page = S3Answers.PartsPage(bytes, after: 0), let next = page.next {
            try require(next > 0, "the next page is the same one")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        _ = S3Answers.time(text)
        let again = XMLElement.read(Array("<a>\(XMLElement.escaped(text))</a>".utf8))
        try require(again == XMLElement(name: "a", text: text), "the text is not the same again")
    }

    private static func depth(_ element: XMLElement) -> Int { 1 + (element.children.map(depth).max() ?? 0) }
}
