import TransferCore
import TransferCrypto
import TransferEngine
import TransferJobs

/// The bytes that earlier attempts of a download left: which can be continued, and from which resume point. Blocks, so
/// it belongs on a worker thread.
struct ResumableBytes {
    private let part: PartFile
    private let download: JobSpec.Download
    private let url: String
    private let answeredURL: String?
    private let asksPlace: Bool
    private let known: ResumeData?

    /// Judges a partial file.
    ///
    /// - Parameters:
    ///   - recorded: The queue's record of the partial file.
    ///   - answeredURL: The URL that gave the bytes, with its secrets, if this process knows it.
    ///   - asksPlace: Whether that URL is asked before the job's own.
    ///   - isDurable: Whether all bytes of the partial file are known to be durable, whatever its record says.
    init(
        _ part: PartFile, recorded: ResumeData?, _ download: JobSpec.Download, url: String, answeredURL: String?,
        asksPlace: Bool, isDurable: Bool = false
    ) {
        self.part = part
        self.download = download
        self.url = url
        self.answeredURL = answeredURL
        self.asksPlace = asksPlace
        // A compressed answer is decoded on its way, and cannot be continued by offsets.
        var known = download.compressed ? nil : part.initialRecord ?? (part.isClaimed ? recorded : nil)
        if isDurable { known?.synced = ByteRanges(0..<part.initialSize) }
        self.known = known
    }

    /// The number of bytes at the beginning that can be trusted.
    private var length: Int64 {
        guard part.initialSize > 0, let known, isSameFile(known.url), mayGoOn(known) else { return 0 }
        return ranges.prefixLength
    }

    /// The ranges that can be trusted, including those behind a hole. They are empty if the record is of another file
    /// or may not be continued.
    private var ranges: ByteRanges {
        guard part.initialSize > 0, let known, isSameFile(known.url), mayGoOn(known) else { return ByteRanges() }
        return part.trustedRanges(known)
    }

    /// Whether the version that was set aside is worth more: the newer one gave no usable bytes, or was the same
    /// version.
    var prefersAside: Bool {
        guard !download.compressed, let (size, record) = part.aside, isSameFile(record.url) else { return false }
        let aside = record.trustedLength(onMount: part.mount, fileSize: size)
        guard aside > length else { return false }
        guard length > 0, let known else { return true }
        guard let old = record.validator, let new = known.validator, old.isSame(as: new) else { return false }
        return record.place?.url == known.place?.url
    }

    /// The ranges of a file with holes; empty if it has none.
    var holes: ByteRanges {
        let ranges = ranges
        guard let known, known.total != nil, !ranges.isEmpty else { return ByteRanges() }
        if ranges.prefixLength > 0 { return ranges.ranges.count > 1 ? ranges : ByteRanges() }
        // A missing beginning is requested as a part if the server supports that.
        let isKnown = known.validator?.ifRange != nil || download.isProvenByDigests
        return isKnown && asksPlace ? ranges : ByteRanges()
    }

    /// Returns the state to continue from. Untrusted bytes at the end are cut off.
    func trusted() throws(TransferError) -> (ResumePoint?, ResumeData?) {
        let length = length
        let holes = holes
        guard length > 0 || !holes.isEmpty, let known else { return (nil, nil) }
        let end = holes.ranges.last?.upperBound ?? length
        if end < part.initialSize { try part.truncate(to: end) }
        var point = ResumePoint(known, offset: length)
        point.isVerifiedByDigest = download.isProvenByDigests
        point.outlastsOddAnswers = true
        point.isPart = length == 0
        point.overlap = ResumePoint.overlap(of: url, before: length)
        point.isVouchedFor = known.adopted != nil && download.adopt == .unproven
        if known.url != Redaction.url(url) {
            // The record belongs to another mirror, whose validators mean nothing here.
            point.validator = nil
            point.place = nil
            return (point, known)
        }
        if asksPlace, let place = known.place {
            if let answeredURL, place.isResource(of: answeredURL) {
                point.placeURL = answeredURL
            } else if place.canBeAsked, place.url != known.url {
                point.placeURL = place.url
            }
        }
        return (point, known)
    }

    /// Returns whether the bytes may be continued: another tool's only if a digest decides in the end, or the user
    /// allows unproven bytes.
    private func mayGoOn(_ known: ResumeData) -> Bool {
        known.adopted == nil || download.isProvenByDigests || download.adopt == .unproven
    }

    /// Returns the digest of the partial file, if it is complete and equals the job's digest.
    func provenDigest(_ point: ResumePoint?) throws(TransferError) -> Checksum? {
        guard let point, point.offset == point.total, let expected = download.checksum,
            try FileDigest.compute(part.readablePath, expected.algorithm) == expected
        else { return nil }
        return expected
    }

    /// Returns whether a record is of this file. Another URL's partial file is continued only if a digest of the whole
    /// decides in the end.
    private func isSameFile(_ known: String) -> Bool { Self.isSameFile(known, as: url, of: download) }

    static func isSameFile(_ known: String, as url: String, of download: JobSpec.Download) -> Bool {
        known == Redaction.url(url)
            || (download.isProvenByDigests && download.urls.contains { Redaction.url($0) == known })
    }
}
