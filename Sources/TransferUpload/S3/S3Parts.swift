import TransferCore
import TransferCrypto

/// The parts of a source: those that the server holds, those under way, and those still to be sent.
struct S3Parts: Sendable, Hashable {
    struct Held: Sendable, Hashable {
        /// The tag as the server wrote it.
        var etag: String
        /// The SHA-256 digest in base64, where the server stores it.
        var checksum: String?
    }

    let size: Int64
    let partSize: Int64
    private(set) var held: [Int: Held] = [:]
    /// The bytes of the held parts.
    private(set) var confirmed: Int64 = 0
    /// The parts to send; the next one is last.
    private(set) var waiting: [Int] = []
    private var failures: [Int: Int] = [:]

    /// Divides a source.
    ///
    /// - Returns: `nil` for more parts than S3 allows.
    init?(size: Int64, partSize: Int64) {
        guard size > 0, partSize > 0, (size - 1) / partSize < S3Options.maxParts else { return nil }
        self.size = size
        self.partSize = partSize
    }

    /// Chooses the length of a part.
    ///
    /// - Parameter isNear: Whether the server is on this machine or in its network.
    /// - Returns: The length that the options ask for, within S3's limits; `nil` for a source that is too large.
    static func partSize(_ size: Int64, _ options: S3Options, isNear: Bool = false) -> Int64? {
        let mebibyte: Int64 = 1 << 20
        let least = (size + S3Options.maxParts - 1) / S3Options.maxParts
        var part = max(
            options.partSize ?? (isNear ? suitedSizes[suitedSizes.count - 1] : suitedPartSize(size)),
            options.minimumPartSize, 1)
        if part < least { part = (least + mebibyte - 1) / mebibyte * mebibyte }
        return least > S3Options.maxRequestSize ? nil : min(part, S3Options.maxRequestSize)
    }

    /// Returns the length of a part that suits a file's size.
    ///
    /// Small parts let a small file have several at a time, and an interruption costs little. For a large file each
    /// part costs a round trip on its connection, so parts grow until there are 64. The lengths are those of other
    /// tools, so that an object's tag can be compared with a file later.
    static func suitedPartSize(_ size: Int64) -> Int64 {
        suitedSizes.first { size <= $0 * 64 } ?? suitedSizes[suitedSizes.count - 1]
    }

    /// The round trip in seconds below which a server is near. Large parts cost nothing there, and fewer requests.
    static let near = 0.002

    private static let suitedSizes: [Int64] = [5 << 20, 8 << 20, 16 << 20]

    /// The number of parts; parts are numbered from 1.
    var count: Int { Int((size - 1) / partSize) + 1 }
    var isWhole: Bool { held.count == count }

    func range(_ number: Int) -> Range<Int64> {
        let start = Int64(number - 1) * partSize
        return start..<min(size, start + partSize)
    }

    /// Notes a part that the server holds. A part with an unknown number or another length is sent again.
    mutating func found(_ number: Int, size: Int64, etag: String, checksum: String?) {
        guard (1...count).contains(number) else { return }
        let range = range(number)
        guard size == range.upperBound - range.lowerBound else { return }
        hold(number, Held(etag: etag, checksum: checksum))
    }

    mutating func hold(_ number: Int, _ part: Held) {
        let range = range(number)
        if held.updateValue(part, forKey: number) == nil { confirmed += range.upperBound - range.lowerBound }
    }

    /// Queues the missing parts, once all held parts are noted.
    mutating func queueMissing() { waiting = (1...count).reversed().filter { held[$0] == nil } }

    mutating func next() -> Int? { waiting.popLast() }

    /// Counts a failure of a part.
    ///
    /// - Returns: Whether the part may be sent again in this attempt.
    mutating func mayRepeat(_ number: Int) -> Bool {
        failures[number, default: 0] += 1
        return failures[number, default: 0] <= 2
    }

    /// Makes the part the next one.
    mutating func requeue(_ number: Int) { waiting.append(number) }

    /// The marks by which the object of the joined parts can be identified (AWS: "Checking object integrity").
    var completion: S3State.Completion {
        let numbers = 1...count
        let digests = numbers.compactMap { number -> [UInt8]? in
            let bytes = held[number].flatMap { Hexadecimal.decode(S3Answers.unquoted($0.etag)) }
            return bytes?.count == DigestAlgorithm.md5.byteCount ? bytes : nil
        }
        let checksums = numbers.compactMap { number in held[number]?.checksum.flatMap { Base64.decode($0) } }
        // Without MD5 (a FIPS provider) the tag is unknown beforehand, and a lost answer costs another upload.
        let etag = digests.count == count ? try? Digest.of(digests.flatMap { $0 }, .md5).hex : nil
        let checksum = checksums.count == count ? try? Digest.of(checksums.flatMap { $0 }).base64 : nil
        return S3State.Completion(
            etag: etag.map { "\($0)-\(count)" }, checksum: checksum.map { "\($0)-\(count)" })
    }

    /// The body of CompleteMultipartUpload.
    var document: [UInt8] {
        var text = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
        for number in 1...count {
            guard let part = held[number] else { continue }
            text += "<Part>"
            if let checksum = part.checksum {
                text += "<ChecksumSHA256>\(XMLElement.escaped(checksum))</ChecksumSHA256>"
            }
            text += "<ETag>\(XMLElement.escaped(part.etag))</ETag><PartNumber>\(number)</PartNumber></Part>"
        }
        return Array((text + "</CompleteMultipartUpload>").utf8)
    }
}
