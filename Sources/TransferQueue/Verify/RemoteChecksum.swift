import TransferCore
import TransferCrypto
import TransferEngine
import TransferJobs
import TransferStore
import TransferUpload

/// What a server says of a file that it gave: by a digest (RFC 9530), or by the ETag of an object of S3's, which is an MD5
/// of the whole, or of the MD5s of its parts.
struct RemoteChecksum {
    let head: ResponseHead
    let isObject: Bool

    /// Sizes in which programs send parts, in MiB.
    private static let partSizes: [Int64] = [5, 8, 10, 15, 16, 20, 25, 32, 50, 64, 100, 128, 256, 512, 1024]

    /// Compares the file with it. Blocks.
    func verdict(_ download: StoredDownload) throws(TransferError) -> FileCheck.Verdict {
        let size = download.facts.size
        guard head.status == 200 else { return .unknown("its server answers \(head.status)") }
        if let length = head.contentLength, head.contentCoding == nil, length != size {
            return .unknown("its server has another version now, of \(CountText.bytes(length))")
        }
        if let recorded = download.validator, let now = Validator(head)?.description, now != recorded {
            return .unknown("its server has another version now (\(now))")
        }
        if download.spec.isCompressed, head.contentCoding != nil {
            return .unknown("its server speaks of the compressed file, and the decoded one is here")
        }
        if let reported = ReprDigest.value(head, preferred: nil) {
            let found = try FileReading(download.path, algorithm: reported.algorithm).digest
            return found == reported ? .good(.server) : .bad(.server, size > 0 ? [0..<size] : [])
        }
        guard isObject, let tag = head.value("ETag")?.filter({ $0 != "\"" }) else {
            return .unknown("its server gives no digest, and nothing is recorded by which it could be judged")
        }
        // Of what is encrypted with a customer's key it's no digest.
        let encryption = head.value("x-amz-server-side-encryption") ?? ""
        guard !encryption.hasPrefix("aws:kms"), head.value("x-amz-server-side-encryption-customer-algorithm") == nil
        else {
            return .unknown("the object is encrypted, so that its ETag tells nothing of its bytes")
        }
        if let digest = Checksum(.md5, hex: tag) {
            let found = try FileReading(download.path, algorithm: .md5).digest
            return found == digest ? .good(.server) : .bad(.server, size > 0 ? [0..<size] : [])
        }
        return try ofParts(tag, download)
    }

    /// Nothing tells how long the parts are: a length with which the ETag comes out proves the file; that none does proves
    /// nothing.
    private func ofParts(_ tag: String, _ download: StoredDownload) throws(TransferError) -> FileCheck.Verdict {
        let words = tag.split(separator: "-")
        guard words.count == 2, let count = Int64(words[1]), count > 0, Checksum(.md5, hex: words[0]) != nil else {
            return .unknown("its ETag is no digest")
        }
        let size = download.facts.size
        for length in Self.partSizes.map({ $0 << 20 }) where (size + length - 1) / length == count {
            let file = try SourceFile(download.path)
            var digests: [UInt8] = []
            for number in 0..<count {
                let range = number * length..<min(size, (number + 1) * length)
                digests += try FileDigest.compute(file, .md5, range).bytes
            }
            do {
                let digest = try Digest(.md5)
                digests.withUnsafeBytes(digest.update)
                if try digest.finish().hex == words[0].lowercased() { return .good(.server) }
            } catch {
                throw error as? TransferError ?? TransferError(.internalFault, "\(error)")
            }
        }
        return .unknown("its ETag is of \(CountText.words(count, "part")) of a length that nobody knows")
    }
}
