import Testing
import TransferCore
import TransferUpload

/// The Content-Type that uploads declare if their owner declares none.
@Suite struct FileTypeTests {
    @Test(
        arguments: [
            ("index.html", "https://h/in/", "text/html"), ("tmp1", "https://h/in/a%2Ejson?x=1", "application/json"),
            ("tmp1", "https://h/in/", nil), ("tmp1.unheard", "https://h/in/x", nil),
            // A type that the version 2 signature does not cover is refused. Version 4 names the fields that it covers.
            ("a.png", "https://b.s3.amazonaws.com/a.png?AWSAccessKeyId=A&Expires=1&Signature=s", nil),
            ("a.png", "https://storage.googleapis.com/b/a.png?GoogleAccessId=A&Expires=1&Signature=s", nil),
            ("a.png", "https://b.oss-cn-x.aliyuncs.com/a.png?OSSAccessKeyId=A&Expires=1&Signature=s", nil),
            ("a.png", "https://b.s3.amazonaws.com/a.png?X-Amz-SignedHeaders=host&X-Amz-Signature=s", "image/png"),
            ("a.png", "https://acc.blob.core.windows.net/c/a.png?sv=1&sig=s", "image/png"),
        ] as [(String, String, String?)])
    func theTypeFollowsFromTheNameUnlessASignatureForbidsIt(_ name: String, _ url: String, _ type: String?) {
        #expect(FileType.field(for: name, at: url, beside: [])?.value == type)
    }

    @Test func theOwnersOwnStays() {
        let own = [HeaderField("content-type", "text/x-own")]
        #expect(FileType.field(for: "a.png", at: "https://h/a.png", beside: own) == nil)
    }

    private func sent(_ dialogue: some UploadDialogue) throws -> UploadRequest {
        var dialogue = dialogue
        let requests = dialogue.begin(now: 0).compactMap { action -> UploadRequest? in
            if case .send(let request) = action { request } else { nil }
        }
        return try #require(requests.first)
    }

    @Test func aFormDeclaresTheTypeOfItsPart() throws {
        let form = FormUpload(url: "http://h/", source: UploadSource(name: "a.csv", size: 1))
        guard case .source(_, let prefix, _) = try sent(form).body else { throw Failure() }
        #expect(String(decoding: prefix, as: UTF8.self).contains("\r\nContent-Type: text/csv\r\n\r\n"))
    }

    private struct Failure: Error {}

    /// - Parameter size: The size of the source; above 100 the object is uploaded in parts.
    @Test(
        arguments: [("index.html", 10, "PUT"), ("index.html", 500, "POST"), ("tmp1", 10, "PUT")]
            as [(String, Int64, String)])
    func theTypeOfAnObjectIsSigned(_ name: String, _ size: Int64, _ method: String) throws {
        func request(_ headers: [HeaderField]) throws -> UploadRequest {
            try sent(
                S3Dialogue(
                    location: try S3Location("s3://site/docs/index.html", endpoint: "https://s3.example"),
                    credentials: S3Credentials(accessKey: "A", secret: "S"),
                    source: UploadSource(name: name, size: size),
                    options: S3Options(threshold: 100, partSize: 100, integrity: .none, headers: headers)))
        }
        let plain = try request([])
        #expect(plain.method == method)
        #expect(plain.headers.filter { $0.isNamed("Content-Type") }.map(\.value) == ["text/html"])
        #expect(plain.headers.value("Authorization")?.contains("SignedHeaders=content-type;host;") == true)
        let own = try request([HeaderField("Content-Type", "text/plain")])
        #expect(own.headers.filter { $0.isNamed("Content-Type") }.map(\.value) == ["text/plain"])
    }
}
