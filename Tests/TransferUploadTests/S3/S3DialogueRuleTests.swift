import Testing
import TransferCore
import TransferCrypto

@testable import TransferUpload

/// Regions, fields, sizes and states: the rules for every S3 upload.
@Suite struct S3DialogueRuleTests {
    @Test func aWrongRegionIsPutRightOnce() throws {
        var script = try S3Script(size: 350, endpoint: nil)
        _ = script.begin()
        let again = script.answer(
            1, 301, S3Samples.error("PermanentRedirect"), [HeaderField("x-amz-bucket-region", "eu-west-3")])
        #expect(S3Script.words(again) == ["POST uploads="])
        let create = try #require(S3Script.requests(again).first)
        #expect(create.url == "https://b.s3.eu-west-3.amazonaws.com/k?uploads=")
        #expect(create.headers.value("Authorization")?.contains("/eu-west-3/s3/") == true)
        let end = script.answer(
            2, 301, S3Samples.error("PermanentRedirect"), [HeaderField("x-amz-bucket-region", "eu-west-2")])
        #expect(S3Script.words(end) == ["fail httpStatus"])

        var malformed = try S3Script(size: 50)
        _ = malformed.begin()
        let put = malformed.answer(1, 400, S3Samples.error("AuthorizationHeaderMalformed", region: "garage"))
        #expect(S3Script.words(put) == ["save", "PUT 0..<50"])
        #expect(S3Script.requests(put).first?.url == "https://s3.example/b/k", "the endpoint stays")
        var later = try S3Script(size: 50, state: S3Script.saved(put))
        let head = try #require(S3Script.requests(later.begin()).first)
        #expect(head.headers.value("Authorization")?.contains("/garage/s3/") == true, "and the region is kept")
    }

    @Test func theOwnersFieldsGoWhereS3WantsThem() throws {
        let names = [
            "Content-Type", "x-amz-meta-a", "x-amz-storage-class", "Cache-Control", "X-Gateway", "If-None-Match",
            "x-amz-request-payer", "x-amz-server-side-encryption-customer-key", "Authorization", "x-amz-date", "Host",
        ]
        let fields = names.map { HeaderField($0, "v") }
        func sent(_ exchange: S3Exchange) -> [String] {
            let fields = S3OwnersFields(fields, for: exchange)
            return (fields.signed + fields.unsigned).map(\.name)
        }
        let object = ["Content-Type", "x-amz-meta-a", "x-amz-storage-class"]
        let customers = "x-amz-server-side-encryption-customer-key"
        #expect(
            sent(.put(nil)) == object + [
                "x-amz-request-payer", customers, "Cache-Control", "X-Gateway", "If-None-Match",
            ])
        #expect(sent(.create) == object + ["x-amz-request-payer", customers, "Cache-Control", "X-Gateway"])
        #expect(sent(.part(1, nil)) == ["x-amz-request-payer", customers, "X-Gateway"])
        #expect(sent(.complete) == ["x-amz-request-payer", customers, "X-Gateway", "If-None-Match"])
        #expect(sent(.abort(thenRestart: nil)) == ["x-amz-request-payer", "X-Gateway"])
        var script = try S3Script(size: 1, options: S3Options(integrity: .none, headers: fields))
        let put = try #require(S3Script.requests(script.begin()).first)
        let authorization = try #require(put.headers.value("Authorization"))
        #expect(authorization.contains("x-amz-storage-class") && !authorization.contains("x-gateway"))
        #expect(put.headers.filter { $0.isNamed("Content-Type") }.map(\.value) == ["v"])
        #expect(put.headers.filter { $0.isNamed("x-amz-date") }.count == 1)
    }

    @Test(
        arguments: [
            (1, 16, 5, 16), (160_000, 16, 5, 16), (100, 1, 5, 5), (160_001 << 20, 16 << 20, 5 << 20, 17 << 20),
            (5 << 40, 16 << 20, 5 << 20, 525 << 20), (6 << 40, 8 << 30, 1, 5 << 30), (60 << 40, 1, 1, nil),
        ] as [(Int64, Int64, Int64, Int64?)])
    func partsGrowSoThatThereAreAtMost10000(_ size: Int64, _ wanted: Int64, _ least: Int64, _ expected: Int64?) {
        let part = S3Parts.partSize(size, S3Options(partSize: wanted, minimumPartSize: least))
        #expect(part == expected)
        if let part { #expect(S3Parts(size: size, partSize: part).map { $0.count <= 10_000 } == true) }
        #expect(S3Dialogue.tooLarge(size).message.contains("10000 parts of 5368709120 bytes, 53687091200000 in all"))
    }

    @Test func statesReadBack() {
        let states = [
            S3State(size: 0, stage: .single), S3State(size: 9, stage: .creating(since: 1_700_000_000, tries: 0)),
            S3State(size: 9, region: "r", stage: .creating(since: 1, tries: 2)),
            S3State(size: 1, region: "eu-west-1", stage: .single),
            S3State(
                size: .max,
                stage: .multipart(uploadID: "a b%/=é\n", partSize: 1, keepsChecksums: true, completion: nil)),
            S3State(
                size: 5,
                stage: .multipart(
                    uploadID: "u", partSize: 2, keepsChecksums: false, completion: S3State.Completion())),
            S3State(
                size: 5,
                stage: .multipart(
                    uploadID: "u", partSize: 2, keepsChecksums: false,
                    completion: S3State.Completion(etag: "e-3", checksum: "a+/=-3"))),
        ]
        for state in states {
            #expect(S3State(state.text) == state)
            #expect(!state.text.contains("\n"))
        }
        for text in ["", "s3/1", "s3/2 size=1", "s3/1 size=-1", "s3/1 size=1 upload=u", "s3/1 size=1 part=0 upload=u"] {
            #expect(S3State(text) == nil)
        }
    }

    @Test(
        arguments: [
            (400, "RequestTimeout", true, .transfer, nil), (503, "SlowDown", true, .origin, 503),
            (503, "ServiceUnavailable", true, .origin, 503), (500, "InternalError", true, .transfer, 500),
            (409, "OperationAborted", true, .transfer, nil), (403, "AccessDenied", false, .transfer, 403),
            (404, "NoSuchBucket", false, .transfer, 404), (429, "TooManyRequests", true, .origin, 429),
            (400, "BadDigest", true, .transfer, nil), (400, "EntityTooSmall", false, .transfer, 400),
            (200, "InternalError", true, .transfer, nil), (307, "TemporaryRedirect", true, .transfer, nil),
            (412, "PreconditionFailed", false, .transfer, 412), (503, nil, true, .origin, 503),
            (301, nil, false, .transfer, nil), (502, nil, true, .transfer, 502), (520, nil, true, .transfer, 520),
            (501, "NotImplemented", false, .transfer, 501), (599, "Odd", true, .transfer, 599),
        ] as [(Int, String?, Bool, TransferError.Scope, Int?)])
    func errorsSayWhetherTheyAreTransient(
        _ status: Int, _ code: String?, _ isTransient: Bool, _ scope: TransferError.Scope, _ shown: Int?
    ) {
        let body = code.map { S3Samples.error($0, message: "one\u{7}\ntwo.") } ?? "<html>"
        let error = S3Fault.error(
            UploadAnswer(
                request: 1, head: ResponseHead(status: status, fields: []), body: Array(body.utf8), url: "https://h/"),
            now: 0)
        #expect(error.isTransient == isTransient)
        #expect(error.scope == (code == nil && status == 503 ? .transfer : scope))
        #expect(error.status == shown, "a status that a retry rule would read otherwise is not named")
        if let code { #expect(error.message == "\(code): one  two") }
    }

    @Test(
        arguments: [
            (
                "InvalidRequest",
                "Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters",
                .sha256, true
            ),
            (
                "InvalidRequest",
                "Content-MD5 HTTP header is required for Put Part requests with Object Lock parameters", .none, true
            ),
            ("MissingContentMD5", "Missing required header for this request: Content-Md5.", .sha256, true),
            ("InvalidRequest", "Content-MD5 is required", .md5, false),
            ("InvalidRequest", "Content-MD5 is required", .storedSHA256, false),
            ("InvalidRequest", "The parameter is odd.", .sha256, false),
            ("BadDigest", "The Content-MD5 you specified did not match what we received.", .none, false),
        ] as [(String, String, S3Options.Integrity, Bool)])
    func aBucketThatRequiresADigestHasAnExplainingError(
        _ code: String, _ message: String, _ integrity: S3Options.Integrity, _ isReported: Bool
    ) throws {
        let body = S3Samples.error(code, message: message)
        func hinted(_ actions: [UploadAction]) -> Bool {
            guard case .fail(let error)? = actions.last else { return false }
            return error.message.hasSuffix(
                "; write \"s3\": {\"integrity\": \"stored-sha256\"} (md5 for an older server)"
            )
        }
        var script = try S3Script(
            size: 0, options: S3Options(threshold: 100, partSize: 100, integrity: integrity))
        _ = script.begin()
        #expect(hinted(script.answer(1, 400, body)) == isReported)
    }

    @Test func aWrongClockIsNamed() {
        let body =
            "<Error><Code>RequestTimeTooSkewed</Code><Message>m</Message>"
            + "<ServerTime>2024-02-29T23:59:59Z</ServerTime></Error>"
        let error = S3Fault.error(
            UploadAnswer(
                request: 1, head: ResponseHead(status: 403, fields: []), body: Array(body.utf8), url: "https://h/"),
            now: 784_111_777)
        #expect(
            error.message
                == "RequestTimeTooSkewed: this machine's clock is wrong; it says Sun, 06 Nov 1994 08:49:37 GMT, "
                + "the server's says 2024-02-29T23:59:59Z")
        #expect(!error.isTransient)
    }
}
