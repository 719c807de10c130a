import Testing
import TransferCore

@testable import TransferUpload

@Suite struct SignatureVersion4Tests {
    /// A request, and the signature from the documents of AWS or from botocore.
    struct Vector: Sendable {
        var method: String
        var url: String
        var headers: [HeaderField] = []
        var body = ""
        var now: Int64
        var region = "us-east-1"
        var service = "s3"
        var accessKey = "AKIAIOSFODNN7EXAMPLE"
        var secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
        var token: String?
        var signedHeaders: String
        var signature: String

        func fields() throws -> [HeaderField] {
            try SignatureVersion4(region: region, service: service).fields(
                method: method, url: url, headers: headers, payload: .bytes(Array(body.utf8)),
                credentials: S3Credentials(accessKey: accessKey, secret: secret, sessionToken: token), now: now)
        }
    }

    static let may2013: Int64 = 1_369_353_600
    static let august2015: Int64 = 1_440_938_160
    static let leapDay: Int64 = 1_709_251_199

    /// "Signature Calculations for the Authorization Header" of the S3 API reference.
    static let documented: [Vector] = [
        Vector(
            method: "GET", url: "https://examplebucket.s3.amazonaws.com/test.txt",
            headers: [HeaderField("Range", "bytes=0-9")], now: may2013,
            signedHeaders: "host;range;x-amz-content-sha256;x-amz-date",
            signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
        Vector(
            method: "PUT", url: "https://examplebucket.s3.amazonaws.com/test$file.text",
            headers: [
                HeaderField("Date", "Fri, 24 May 2013 00:00:00 GMT"),
                HeaderField("x-amz-storage-class", "REDUCED_REDUNDANCY"),
            ], body: "Welcome to Amazon S3.", now: may2013,
            signedHeaders: "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
            signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
        Vector(
            method: "GET", url: "https://examplebucket.s3.amazonaws.com?lifecycle", now: may2013,
            signedHeaders: "host;x-amz-content-sha256;x-amz-date",
            signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        Vector(
            method: "GET", url: "https://examplebucket.s3.amazonaws.com/?prefix=J&max-keys=2", now: may2013,
            signedHeaders: "host;x-amz-content-sha256;x-amz-date",
            signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ]

    /// Vectors of the "Signature Version 4 test suite": get-vanilla, post-vanilla, get-vanilla-query-order-key-case and
    /// one like get-vanilla-query-order-value.
    static let suite: [Vector] = [
        ("GET", "https://example.amazonaws.com/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("POST", "https://example.amazonaws.com/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        (
            "GET", "https://example.amazonaws.com/?Param2=value2&Param1=value1",
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
        ),
        (
            "GET", "https://example.amazonaws.com/?Param1=value2&Param1=Value1",
            "eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1"
        ),
    ].map { method, url, signature in
        Vector(
            method: method, url: url, now: august2015, service: "service", accessKey: "AKIDEXAMPLE",
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", signedHeaders: "host;x-amz-date", signature: signature)
    }

    /// The results of botocore's S3SigV4Auth for requests whose parts are hard to encode.
    static let botocore: [Vector] = [
        Vector(
            method: "PUT",
            url: "https://s3.eu-west-1.amazonaws.com/Bucket_1/a%20b/%2B%3F%23%C3%A9//.%2A~%27%28%29",
            headers: [
                HeaderField("Content-Type", "text/plain"), HeaderField("x-amz-meta-note", "  two   spaces "),
            ], body: "hello", now: leapDay, region: "eu-west-1", token: "TOKEN/+=",
            signedHeaders:
                "content-type;host;x-amz-content-sha256;x-amz-date;x-amz-meta-note;x-amz-security-token",
            signature: "f6b147f356d7645a5745a70ec07f987ca6b10648c4ad9832d88c055a5338333c"),
        Vector(
            method: "PUT", url: "http://127.0.0.1:5000/b/k?partNumber=2&uploadId=a%2Fb%2B%3D",
            headers: [HeaderField("Content-MD5", "XUFAKrxLKna5cZ2REBfFkg==")], body: "hello", now: leapDay,
            region: "eu-west-1", signedHeaders: "content-md5;host;x-amz-content-sha256;x-amz-date",
            signature: "85fe48ea725b0ecb31aaba8f7a217f5b428a229a35fc02636ff0d198be535535"),
        Vector(
            method: "GET", url: "http://[::1]:9000/b/k?max-parts=400&part-number-marker=0&uploadId=x-Y_z.~",
            now: leapDay, region: "eu-west-1", token: "T",
            signedHeaders: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "49e64878a2c0b6fa9abb19be88fad008c0a80a810cd614fe25461d7e3f8c8752"),
        Vector(
            method: "POST", url: "https://b.s3.cn-north-1.amazonaws.com.cn/k?uploads=",
            headers: [HeaderField("X-Amz-Acl", "private"), HeaderField("Content-Type", "application/octet-stream")],
            now: leapDay, region: "eu-west-1",
            signedHeaders: "content-type;host;x-amz-acl;x-amz-content-sha256;x-amz-date",
            signature: "ba5baea908effbf9c488760a94e88e1519a536209b879cf0d11f23b5a16661e6"),
    ]

    @Test(arguments: documented + suite + botocore)
    func signsAsAWSDoes(_ vector: Vector) throws {
        let fields = try vector.fields()
        let authorization = try #require(fields.value("Authorization"))
        let day = SignatureVersion4.timestamp(vector.now).prefix(8)
        let credential = "\(vector.accessKey)/\(day)/\(vector.region)/\(vector.service)/aws4_request"
        #expect(
            authorization
                == "AWS4-HMAC-SHA256 Credential=\(credential),SignedHeaders=\(vector.signedHeaders),"
                + "Signature=\(vector.signature)")
        #expect(fields.value("x-amz-security-token") == vector.token)
        #expect((fields.value("x-amz-content-sha256") != nil) == (vector.service == "s3"))
    }

    @Test(
        arguments: [
            ("", "/"), ("/", "/"), ("/a b", "/a%20b"), ("/a%20b", "/a%20b"), ("/a%2fb", "/a%2Fb"), ("/a//b/", "/a//b/"),
            ("/./a/..", "/./a/.."), ("/%", "/%25"), ("/~-._", "/~-._"), ("/%ff", "/%FF"), ("/+", "/%2B"),
        ] as [(String, String)])
    func encodesPathsOnceAndNeverNormalises(_ path: String, _ canonical: String) {
        #expect(SignatureVersion4.canonicalPath(path) == canonical)
        #expect(SignatureVersion4.canonicalPath(canonical) == canonical, "what was encoded stays")
    }

    @Test(
        arguments: [
            ("", ""), ("uploads", "uploads="), ("uploads=", "uploads="), ("b=2&a=1", "a=1&b=2"),
            ("a=2&a=1&A=3", "A=3&a=1&a=2"), ("a=x=y", "a=x%3Dy"), ("a=%2F/+", "a=%2F%2F%2B"), ("&&a", "a="),
            ("a-b=1&a=2", "a=2&a-b=1"), ("k=%E1%88%B4", "k=%E1%88%B4"),
        ] as [(String, String)])
    func sortsQueriesByEncodedNames(_ query: String, _ canonical: String) {
        #expect(SignatureVersion4.canonicalQuery(query) == canonical)
    }

    @Test func fieldsAreLowerCasedSortedJoinedAndTrimmed() throws {
        let (text, names) = try SignatureVersion4.canonicalRequest(
            method: "GET", url: "HTTPS://Host.Example:443/x?q#f",
            headers: [HeaderField("X-B", " 2 "), HeaderField("x-a", "a \t b"), HeaderField("x-b", "1")], digest: "d")
        #expect(text == "GET\n/x\nq=\nhost:host.example\nx-a:a b\nx-b:2,1\n\nhost;x-a;x-b\nd")
        #expect(names == "host;x-a;x-b")
    }

    @Test func unsignedPayloadsSaySo() throws {
        let fields = try SignatureVersion4(region: "r").fields(
            method: "PUT", url: "https://h.example/k", payload: .unsigned,
            credentials: S3Credentials(accessKey: "A", secret: "S"), now: 0)
        #expect(fields.value("x-amz-content-sha256") == "UNSIGNED-PAYLOAD")
        #expect(fields.value("x-amz-date") == "19700101T000000Z")
    }

    @Test(arguments: ["a\r\nb", "a\nb", "a\u{0}"])
    func valuesThatWouldInjectAHeaderAreRefused(_ text: String) {
        let signer = SignatureVersion4(region: "r")
        let url = "https://h.example/k"
        let good = S3Credentials(accessKey: "A", secret: "S")
        #expect(throws: TransferError.self) {
            try signer.fields(
                method: "GET", url: url, headers: [HeaderField("x-amz-meta-a", text)], payload: .empty,
                credentials: good, now: 0)
        }
        for credentials in [
            S3Credentials(accessKey: text, secret: "S"),
            S3Credentials(accessKey: "A", secret: "S", sessionToken: text),
        ] {
            #expect(throws: TransferError.self) {
                try signer.fields(method: "GET", url: url, payload: .empty, credentials: credentials, now: 0)
            }
        }
        #expect(throws: TransferError.self) {
            try signer.fields(method: "GET", url: "ftp://h.example/k", payload: .empty, credentials: good, now: 0)
        }
    }
}
