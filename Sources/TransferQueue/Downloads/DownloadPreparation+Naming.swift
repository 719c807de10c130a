import TransferCore
import TransferEngine
import TransferJobs

extension DownloadPreparation {
    /// Looks up the destination's name, after undoing a naming in which a process died. The partial file is then
    /// continued and named anew.
    ///
    /// - Returns: The destination, and the name of that partial file, if any. All of its bytes are durable, because a
    ///   file is synced before it gets its name.
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

    /// Returns whether the file behind a link at the destination is the one to replace, so that the link stays.
    ///
    /// In a destination folder the server may choose the name, and with it the link. A confined job stays in its folder.
    func writesThroughLinks(_ target: DownloadTarget) -> Bool {
        guard !target.isFolder, record.spec.confinement == nil else { return false }
        return [.overwrite, .update, .verify].contains(download.ifExists)
    }

    /// Returns whether a partial file was about to get its name: it belongs to this job and, as its record says, is
    /// complete.
    private func isWhole(_ part: String, _ known: ResumeData?, in folder: PinnedFolder?) -> Bool {
        guard let found = PartFile.look(folder.place(of: part)),
            let record = found.record ?? (known?.partialFile == part ? known : nil),
            ResumableBytes.isSameFile(record.url, as: url, of: download)
        else { return false }
        return record.total.map { $0 == found.size } ?? true
    }
}
