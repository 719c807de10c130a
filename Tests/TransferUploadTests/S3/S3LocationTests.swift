import Testing
import TransferCore

@testable import TransferUpload

@Suite struct S3LocationTests {
    struct Case: Sendable {
        var url: String
        var endpoint: String?
        var region = "us-east-1"
        var style: S3Location.Style?
        var expected: String
    }

    @Test(arguments: [
        Case(url: "s3://bucket/key", expected: "https://bucket.s3.us-east-1.amazonaws.com/key"),
        Case(url: "S3://bucket/key", region: "eu-west-1", expected: "https://bucket.s3.eu-west-1.amazonaws.com/key"),
        Case(url: "s3://my.bucket/key", expected: "https://s3.us-east-1.amazonaws.com/my.bucket/key"),
        Case(url: "s3://Bucket_1/key", expected: "https://s3.us-east-1.amazonaws.com/Bucket_1/key"),
        Case(url: "s3://bucket/k", region: "cn-north-1", expected: "https://bucket.s3.cn-north-1.amazonaws.com.cn/k"),
        Case(url: "s3://bucket/k", style: .path, expected: "https://s3.us-east-1.amazonaws.com/bucket/k"),
        Case(url: "s3://my.bucket/k", style: .virtualHost, expected: "https://my.bucket.s3.us-east-1.amazonaws.com/k"),
        Case(url: "s3://bucket/k", endpoint: "http://127.0.0.1:5000", expected: "http://127.0.0.1:5000/bucket/k"),
        Case(url: "s3://bucket/k", endpoint: "https://Minio.Example:443/", expected: "https://minio.example/bucket/k"),
        Case(url: "s3://bucket/k", endpoint: "http://[::1]:9000", expected: "http://[::1]:9000/bucket/k"),
        Case(
            url: "s3://bucket/k", endpoint: "https://s3.example:8443", style: .virtualHost,
            expected: "https://bucket.s3.example:8443/k"),
        Case(
            url: "s3://bucket/k", endpoint: "https://s3.eu-west-1.amazonaws.com",
            expected: "https://bucket.s3.eu-west-1.amazonaws.com/k"),
        Case(
            url: "s3://b/a b/%2B+é//%3F%23", endpoint: "https://h",
            expected: "https://h/b/a%20b/%2B%2B%C3%A9//%3F%23"),
        Case(url: "s3://b/k", endpoint: "https://h/some/path", expected: "https://h/some/path/b/k"),
        Case(
            url: "s3://b/k", endpoint: "https://H:8443/a%20b@/é%2f//", expected: "https://h:8443/a%20b%40/%C3%A9%2F/b/k"
        ),
        Case(url: "s3://b/k", endpoint: "https://h/p/", style: .virtualHost, expected: "https://b.h/p/k"),
        Case(url: "s3://b//a/", endpoint: "https://h", expected: "https://h/b//a/"),
        Case(url: "s3://b/...", endpoint: "https://h", expected: "https://h/b/..."),
    ])
    func namesTheObject(_ test: Case) throws {
        let location = try S3Location(test.url, endpoint: test.endpoint, region: test.region, style: test.style)
        #expect(location.url == test.expected)
        let again = try S3Location(
            location.description, endpoint: test.endpoint, region: test.region, style: test.style)
        #expect(again == location, "its description reads back")
    }

    @Test(
        arguments: [
            ("https://b/k", nil, "us-east-1", nil), ("s3://", nil, "us-east-1", nil),
            ("s3:///k", nil, "us-east-1", nil),
            ("s3://b", nil, "us-east-1", nil), ("s3://b/", nil, "us-east-1", nil),
            ("s3://b u/k", nil, "us-east-1", nil),
            ("s3://../k", nil, "us-east-1", nil), ("s3://u:p@b/k", nil, "us-east-1", nil),
            ("s3://b/k?versionId=1", nil, "us-east-1", nil), ("s3://b/k#x", nil, "us-east-1", nil),
            ("s3://b/a/../k", nil, "us-east-1", nil), ("s3://b/%2E", nil, "us-east-1", nil),
            ("s3://b/%FF", nil, "us-east-1", nil), ("s3://b/k", "minio:9000", "us-east-1", nil),
            ("s3://b/k", "https://h/a/../b", "us-east-1", nil), ("s3://b/k", "https://u:p@h", "us-east-1", nil),
            ("s3://b/k", "https://h/%2E/b", "us-east-1", nil), ("s3://b/k", "https://h/a#b", "us-east-1", nil),
            ("s3://b/k", "https://h?x", "us-east-1", nil), ("s3://b/k", nil, "", nil),
            ("s3://b/k", nil, "evil.example/", nil), ("s3://B_1/k", nil, "us-east-1", .virtualHost),
        ] as [(String, String?, String, S3Location.Style?)])
    func badLocationsAreRefused(_ url: String, _ endpoint: String?, _ region: String, _ style: S3Location.Style?) {
        #expect(throws: TransferError.self) {
            try S3Location(url, endpoint: endpoint, region: region, style: style)
        }
    }

    @Test func theWholePathOfAnEndpointIsSigned() throws {
        let options = S3Options(threshold: 100, partSize: 100, integrity: .none)
        let credentials = S3Credentials(accessKey: "A", secret: "S")
        for (size, url) in [(10, "https://h/gate/way/b/k"), (500, "https://h/gate/way/b/k?uploads=")]
            as [(Int64, String)]
        {
            var dialogue = S3Dialogue(
                location: try S3Location("s3://b/k", endpoint: "https://h/gate/way"), credentials: credentials,
                source: UploadSource(name: "k", size: size), options: options)
            let request = try #require(S3Script.requests(dialogue.begin(now: 1_369_353_600)).first)
            #expect(request.url == url)
            let signed = try SignatureVersion4(region: "us-east-1").fields(
                method: request.method, url: url, headers: request.headers.filter { $0.isNamed("Content-Type") },
                payload: size == 10 ? .unsigned : .empty, credentials: credentials, now: 1_369_353_600)
            #expect(request.headers.value("Authorization") == signed.value("Authorization"))
        }
        let canonical = try SignatureVersion4.canonicalRequest(
            method: "PUT", url: "https://h/gate/way/b/k", headers: [], digest: "x")
        #expect(canonical.text.hasPrefix("PUT\n/gate/way/b/k\n"))
    }

    @Test func keysHaveAtMost1024Bytes() throws {
        _ = try S3Location("s3://b/" + String(repeating: "é", count: 512))
        #expect(throws: TransferError.self) { try S3Location("s3://b/" + String(repeating: "k", count: 1025)) }
    }

    @Test func downloadsSignNothingThatTheEngineAdds() throws {
        let location = try S3Location("s3://b/k", endpoint: "https://h.example")
        let credentials = S3Credentials(accessKey: "A", secret: "S", sessionToken: "T")
        let fields = try location.fields(credentials: credentials, now: 1_369_353_600)
        let authorization = try #require(fields.value("Authorization"))
        #expect(
            authorization.contains(
                "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"))
        #expect(
            fields.map { $0.name }
                == ["x-amz-date", "x-amz-content-sha256", "x-amz-security-token", "Authorization"])
        let head = try location.fields(method: "HEAD", credentials: credentials, now: 1_369_353_600)
        #expect(head.value("Authorization") != authorization)
    }

    @Test func answersNameAnotherRegionOnce() throws {
        let location = try S3Location("s3://b/k", region: "us-east-1")
        func head(_ status: Int, _ region: String?) -> ResponseHead {
            ResponseHead(status: status, fields: region.map { [HeaderField("x-amz-bucket-region", $0)] } ?? [])
        }
        #expect(location.otherRegion(head(301, "eu-west-3"))?.url == "https://b.s3.eu-west-3.amazonaws.com/k")
        #expect(location.otherRegion(head(400, "eu-west-3"))?.region == "eu-west-3")
        #expect(location.otherRegion(head(301, "us-east-1")) == nil, "that was it already")
        #expect(location.otherRegion(head(200, "eu-west-3")) == nil)
        #expect(location.otherRegion(head(301, "evil.example/")) == nil)
        #expect(location.otherRegion(head(301, nil)) == nil)
        let body = Array("<Error><Code>AuthorizationHeaderMalformed</Code><Region>us-west-2</Region></Error>".utf8)
        #expect(location.otherRegion(head(400, nil), body: body)?.region == "us-west-2")
    }
}
