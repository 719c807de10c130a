import TransferCore

@testable import TransferUpload

/// SplitMix64, which gives the same stories every time.
struct S3Random: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

enum S3Samples {
    static let parts = """
        <?xml version="1.0" encoding="UTF-8"?>
        <ListPartsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Bucket>b</Bucket><Key>k</Key>
        <UploadId>id</UploadId><PartNumberMarker>0</PartNumberMarker><NextPartNumberMarker>2</NextPartNumberMarker>
        <MaxParts>2</MaxParts><IsTruncated>true</IsTruncated>
        <Part><PartNumber>1</PartNumber><LastModified>2010-11-10T20:48:34.000Z</LastModified>
        <ETag>&quot;7778aef83f66abc1fa1e8477f296d394&quot;</ETag><Size>100</Size></Part>
        <Part><PartNumber>2</PartNumber><ETag>"aaaa18db4cc2f85cedef654fccc4a4x8"</ETag><Size>99</Size></Part>
        </ListPartsResult>
        """

    static func error(_ code: String, message: String = "words", region: String? = nil) -> String {
        "<?xml version=\"1.0\"?>\n<Error><Code>\(code)</Code><Message>\(message)</Message>"
            + (region.map { "<Region>\($0)</Region>" } ?? "") + "<RequestId>1</RequestId></Error>"
    }

    static func created(_ uploadID: String) -> String {
        "<InitiateMultipartUploadResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Bucket>b</Bucket>"
            + "<Key>k</Key><UploadId>\(XMLElement.escaped(uploadID))</UploadId></InitiateMultipartUploadResult>"
    }

    static func list(_ parts: [(Int, Int64)], next: Int? = nil) -> String {
        let elements = parts.map { number, size in
            "<Part><PartNumber>\(number)</PartNumber><ETag>&quot;\(etag(number))&quot;</ETag><Size>\(size)</Size></Part>"
        }
        return "<ListPartsResult><IsTruncated>\(next != nil)</IsTruncated>"
            + (next.map { "<NextPartNumberMarker>\($0)</NextPartNumberMarker>" } ?? "") + elements.joined()
            + "</ListPartsResult>"
    }

    static func uploads(_ elements: [String], isTruncated: Bool = false) -> String {
        "<ListMultipartUploadsResult><Bucket>b</Bucket><IsTruncated>\(isTruncated)</IsTruncated>\(elements.joined())"
            + "</ListMultipartUploadsResult>"
    }

    static func upload(_ key: String, _ id: String, _ initiated: Int64) -> String {
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let (year, month, day) = CivilDate.date(ofDay: initiated / 86_400)
        let (hours, minutes, seconds) = (initiated / 3600 % 24, initiated / 60 % 60, initiated % 60)
        let time =
            "\(year)-\(two(Int64(month)))-\(two(Int64(day)))T\(two(hours)):\(two(minutes)):\(two(seconds)).000Z"
        return "<Upload><Key>\(XMLElement.escaped(key))</Key><UploadId>\(XMLElement.escaped(id))</UploadId>"
            + "<Initiator><ID>i</ID></Initiator><StorageClass>STANDARD</StorageClass><Initiated>\(time)</Initiated>"
            + "</Upload>"
    }

    static func etag(_ number: Int) -> String { String(repeating: "0", count: 31) + String(number % 10) }
}

/// A dialogue, and the answers that tests give to it.
struct S3Script {
    static let now: Int64 = 1_700_000_000
    var dialogue: S3Dialogue

    init(
        size: Int64, state: UploadState? = nil, digest: Checksum? = nil,
        options: S3Options = S3Options(
            threshold: 100, partSize: 100, minimumPartSize: 1, parallel: 2, integrity: .none),
        endpoint: String? = "https://s3.example", region: String = "us-east-1"
    ) throws {
        dialogue = S3Dialogue(
            location: try S3Location("s3://b/k", endpoint: endpoint, region: region),
            credentials: S3Credentials(accessKey: "A", secret: "S"),
            source: UploadSource(name: "k", size: size, digest: digest), options: options, state: state)
    }

    mutating func begin() -> [UploadAction] { dialogue.begin(now: Self.now) }
    mutating func abandon() -> [UploadAction] { dialogue.abandon(now: Self.now) }

    mutating func answer(
        _ request: Int, _ status: Int, _ body: String = "", _ fields: [HeaderField] = []
    ) -> [UploadAction] {
        let answer = UploadAnswer(
            request: request, head: ResponseHead(status: status, fields: fields), body: Array(body.utf8),
            url: "https://s3.example/b/k")
        return dialogue.handle(.answered(answer), now: Self.now)
    }

    mutating func tag(_ request: Int, _ number: Int) -> [UploadAction] {
        answer(request, 200, "", [HeaderField("ETag", "\"\(S3Samples.etag(number))\"")])
    }

    mutating func lose(_ request: Int, _ error: TransferError? = nil) -> [UploadAction] {
        let lost = TransferError(.connectionLost, "cut", isTransient: true)
        return dialogue.handle(.failed(request: request, error ?? lost, sent: 1), now: Self.now)
    }

    mutating func digested(_ id: Int, _ checksum: Checksum) -> [UploadAction] {
        dialogue.handle(.digested(id: id, checksum), now: Self.now)
    }

    static func state(_ size: Int64, _ completion: S3State.Completion? = nil, keepsChecksums: Bool = false)
        -> UploadState
    {
        S3State(
            size: size,
            stage: .multipart(uploadID: "u/1", partSize: 100, keepsChecksums: keepsChecksums, completion: completion)
        ).saved
    }

    /// Returns the actions in short form: `PUT partNumber=1&uploadId=u%2F1 0..<100`, `save`, `confirmed 100`, `finish
    /// 200`.
    static func words(_ actions: [UploadAction]) -> [String] {
        actions.map { action in
            switch action {
            case .send(let request):
                let query = request.url.split(separator: "?").dropFirst().first.map { " \($0)" } ?? ""
                if case .source(let range, _, _) = request.body { return "\(request.method)\(query) \(range)" }
                return "\(request.method)\(query)"
            case .digest(_, let algorithm, let range): return "\(algorithm) \(range)"
            case .save: return "save"
            case .confirmed(let bytes): return "confirmed \(bytes)"
            case .restart: return "restart"
            case .forget: return "forget"
            case .learned: return "learned"
            case .stop(let request): return "stop \(request)"
            case .finish(let result): return "finish \(result.status) \(result.validator ?? "-")"
            case .fail(let error): return "fail \(error.code)\(error.isTransient ? " transient" : "")"
            }
        }
    }

    static func requests(_ actions: [UploadAction]) -> [UploadRequest] {
        actions.compactMap { action in
            if case .send(let request) = action { return request }
            return nil
        }
    }

    static func saved(_ actions: [UploadAction]) -> UploadState? {
        actions.reversed().lazy.compactMap { action -> UploadState? in
            if case .save(let text) = action { return text }
            return nil
        }.first
    }

    /// Returns the body of the first request, which is XML.
    static func document(_ actions: [UploadAction]) -> XMLElement? {
        guard case .bytes(let bytes)? = requests(actions).first?.body else { return nil }
        return XMLElement.read(bytes)
    }

    static func failure(_ actions: [UploadAction]) -> TransferError? {
        guard case .fail(let error)? = actions.last else { return nil }
        return error
    }

    static func result(_ actions: [UploadAction]) -> UploadResult? {
        guard case .finish(let result)? = actions.last else { return nil }
        return result
    }
}
