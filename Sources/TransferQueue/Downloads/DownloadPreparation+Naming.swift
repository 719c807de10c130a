import TransferCore
import TransferEngine
import TransferJobs

extension DownloadPreparation {
    /// The thing that has the destination's name, after a naming in which a process died was taken back: the partial file is
    /// gone on with then, and gets its name anew.
    ///
    /// - Returns: With that partial file, if any. All of its bytes are durable: they were before it got a name.
    func settledName(
        of path: String, _ known: ResumeData?, in folder: PinnedFolder?
    ) throws(TransferError) -> (there: DestinationName, durablePart: String?) {
        let there = try DestinationName.look(path, in: folder)
        guard record.wasInterrupted, case .file = there else { return (there, nil) }
        for part in partialNames(of: path, known) where isWhole(part, known, in: folder) {
            let found = UnfinishedNaming.undo(
                folder.place(of: path), of: folder.place(of: part), areEqual: FileDigest.areEqual)
            if found != nil { return (try DestinationName.look(path, in: folder), part) }
        }
        return (there, nil)
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
