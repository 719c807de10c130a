import TransferCore
import TransferCrypto
import TransferEngine
import TransferJobs

/// The bytes that earlier attempts of a download left: which of them can be continued, and by what. Blocks: for workers.
struct ResumableBytes {
    private let part: PartFile
    private let download: JobSpec.Download
    private let url: String
    private let answeredURL: String?
    private let asksPlace: Bool
    private let known: ResumeData?

    /// - Parameters:
    ///   - recorded: What the queue knows of the partial file.
    ///   - answeredURL: The URL that gave them, with its secrets, where this process knows it.
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
        // What a server decodes on its way can't be continued by offsets.
        var known = download.compressed ? nil : part.initialRecord ?? (part.isClaimed ? recorded : nil)
        if isDurable { known?.synced = ByteRanges(0..<part.initialSize) }
        self.known = known
    }

    /// How many bytes can be trusted.
    private var length: Int64 {
        guard part.initialSize > 0, let known, isSameFile(known.url), mayGoOn(known) else { return 0 }
        return ranges.prefixLength
    }

    /// Which bytes can be trusted; those behind a hole only where the file's beginning can be.
    private var ranges: ByteRanges {
        guard part.initialSize > 0, let known, isSameFile(known.url), mayGoOn(known) else { return ByteRanges() }
        return part.trustedRanges(known)
    }

    /// Whether the bytes of a version that was set aside are worth more: nothing usable came of the newer one, or it was
    /// the same after all.
    var prefersAside: Bool {
        guard !download.compressed, let (size, record) = part.aside, isSameFile(record.url) else { return false }
        let aside = record.trustedLength(onMount: part.mount, fileSize: size)
        guard aside > length else { return false }
        guard length > 0, let known else { return true }
        guard let old = record.validator, let new = known.validator, old.isSame(as: new) else { return false }
        return record.place?.url == known.place?.url
    }

    /// What is there of a file with holes; empty where there are none.
    var holes: ByteRanges {
        let ranges = ranges
        guard let known, known.total != nil, !ranges.isEmpty else { return ByteRanges() }
        if ranges.prefixLength > 0 { return ranges.ranges.count > 1 ? ranges : ByteRanges() }
        // A beginning that is missing is asked for as a part, as long as the server gives that.
        let isKnown = known.validator?.ifRange != nil || download.isProvenByDigests
        return isKnown && asksPlace ? ranges : ByteRanges()
    }

    /// What can be continued; what can't is cut off.
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
            // Of another mirror: its validators mean nothing here.
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

    /// Another tool's bytes are continued only where a digest decides in the end, or somebody vouches for them.
    private func mayGoOn(_ known: ResumeData) -> Bool {
        known.adopted == nil || download.isProvenByDigests || download.adopt == .unproven
    }

    /// The digest of what is there, where that is all of the file that the job names.
    func provenDigest(_ point: ResumePoint?) throws(TransferError) -> Checksum? {
        guard let point, point.offset == point.total, let expected = download.checksum,
            try FileDigest.compute(part.readablePath, expected.algorithm) == expected
        else { return nil }
        return expected
    }

    /// A partial file of another URL is continued only where a digest of the whole decides in the end.
    private func isSameFile(_ known: String) -> Bool { Self.isSameFile(known, as: url, of: download) }

    static func isSameFile(_ known: String, as url: String, of download: JobSpec.Download) -> Bool {
        known == Redaction.url(url)
            || (download.isProvenByDigests && download.urls.contains { Redaction.url($0) == known })
    }
}
