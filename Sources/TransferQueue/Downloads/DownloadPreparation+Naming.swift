import TransferCore
import TransferEngine
import TransferJobs

extension DownloadPreparation {
    /// The thing that has the destination's name, after a naming in which a process died was taken back: the partial file is
    /// gone on with then, and gets its name anew.
    func settledName(
        of path: String, _ known: ResumeData?, in folder: PinnedFolder?
    ) throws(TransferError) -> DestinationName {
        let there = try DestinationName.look(path, in: folder)
        guard record.wasInterrupted, case .file = there else { return there }
        for part in partialNames(of: path, known) where isWhole(part, known, in: folder) {
            let found = UnfinishedNaming.undo(folder.place(of: path), of: folder.place(of: part))
            if found != nil { return try DestinationName.look(path, in: folder) }
        }
        return there
    }

    /// Whether a partial file was about to get its name: it's this job's, and has all bytes as far as that is known.
    private func isWhole(_ part: String, _ known: ResumeData?, in folder: PinnedFolder?) -> Bool {
        guard let found = PartFile.look(folder.place(of: part)),
            let record = found.record ?? (known?.partialFile == part ? known : nil),
            ResumableBytes.isSameFile(record.url, as: url, of: download)
        else { return false }
        return record.total.map { $0 == found.size } ?? true
    }
}
