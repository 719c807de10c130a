import TransferCore
import TransferEngine
import TransferJobs

/// What is fetched again of a file that several sources brought wrongly, and from where. Blocks: for workers.
struct RefetchPlan: Sendable {
    let resume: ResumeData
    /// The mirror that is asked.
    let mirror: Int
    /// URLs that brought wrong pieces.
    let blamed: [String]
    private let again: Int64

    /// - Parameter start: The answer with which the file began.
    /// - Returns: `nil` where nothing of it can be kept.
    init?(_ ready: ReadyDownload, _ download: JobSpec.Download, _ mix: MixedFile, _ start: BodyStart?) {
        var wrong: [Range<Int64>]?
        if let pieces = download.pieces, let reading = try? FileReading(ready.part.readablePath, pieces: pieces) {
            wrong = reading.wrongPieces.compactMap { pieces.range(ofPiece: $0, in: mix.total) }
        }
        guard let verdict = mix.verdict(wrong: wrong), !verdict.kept.isEmpty,
            let mirror = download.urls.firstIndex(of: verdict.source.url)
        else { return nil }
        self.mirror = mirror
        blamed = verdict.blamed
        again = mix.total - verdict.kept.count
        var record = ResumeData(
            url: Redaction.url(verdict.source.url), validator: verdict.source.validator, total: mix.total,
            written: verdict.kept, bootID: BootID.current, mount: ready.part.mount, isSequential: false,
            partialFile: ready.part.path)
        if verdict.isFirst { record.place = start?.place }
        record.mediaType = start?.head.mediaType
        resume = record
    }

    func record(in part: PartFile) {
        part.removeMap()
        part.record(resume)
    }

    func reason(_ error: TransferError) -> String {
        "\(error.message); \(ByteCount.format(again)) are fetched again from \(Redaction.url(resume.url))"
    }
}
