import TransferCore
import TransferEngine
import TransferJobs

/// The plan of which bytes of a wrong file from several sources are fetched again, and from where. Blocks, so it
/// belongs on a worker thread.
struct RefetchPlan: Sendable {
    let resume: ResumeData
    /// The mirror to ask.
    let mirror: Int
    /// The URLs that brought wrong pieces.
    let blamed: [String]
    private let again: Int64

    /// Makes a plan.
    ///
    /// - Parameter start: The answer with which the file began.
    /// - Returns: `nil` if no byte of the file can be kept.
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
