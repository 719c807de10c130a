import TransferCore
import TransferQueue
import TransferWatch

/// The events of watched folders, as lines of a log: one for each uploaded file, each failure, and each change of
/// state.
enum WatchText {
    /// Returns the line for an event.
    ///
    /// - Parameters:
    ///   - verbose: Whether requested actions are reported too: files that were moved and deleted.
    ///   - receipt: The receipt of the upload that a confirmation is about, where it is known.
    /// - Returns: `nil` for an event that is not reported.
    static func line(
        _ notice: WatchNotice, verbose: Bool, receipt: JobReceipt?, hint: CommandHint = CommandHint()
    ) -> (level: LogLine.Level, text: String)? {
        let folder = notice.folder
        switch notice.kind {
        case .begins(let url): return (.info, "\(folder): watching, to \(url)")
        case .ended: return (.info, "\(folder): no longer watched")
        case .reported(.watch(let event)):
            return line(event, verbose).map { ($0.level, "\(folder): \($0.text)") }
        case .reported(.confirmed(let path, let url)):
            return (.info, "\(folder)/\(path): uploaded\(size(receipt)) to \(Redaction.url(url))")
        case .reported(.moved(let path, let destination)):
            return verbose ? (.info, "\(folder)/\(path): moved to \(destination)") : nil
        case .reported(.deleted(let path)): return verbose ? (.info, "\(folder)/\(path): deleted") : nil
        case .reported(.stays(let path, let error, let again)):
            let next = again.map { "; tried again in \(DurationText.words($0))" } ?? ""
            return (.error, "\(folder)/\(path): stays where it is: \(error.message)\(next)")
        case .reported(.notUploaded(let path, let other)):
            return (.info, "\(folder)/\(path): not uploaded, it is another name of \(other)")
        case .reported(.backlog), .reported(.holdsMore): return nil
        case .reported(.paused):
            let command = hint.command("resume", notice.batch)
            return (.warn, "\(folder): paused, nothing is uploaded until \(command)")
        case .reported(.retargeted(let former)):
            let command = hint.command("forget", notice.batch)
            return (
                .warn,
                "\(folder): its files went to \(former) before; what is there is not uploaded again (stop, and \(command), to upload all anew)"
            )
        }
    }

    /// Returns a list such as `a, b and 3 others`.
    static func list(_ some: [String], of count: Int) -> String {
        let others = count - some.count
        return some.joined(separator: ", ") + (others > 0 ? " and \(NumberText.count(others, "other"))" : "")
    }

    private static func size(_ receipt: JobReceipt?) -> String {
        guard let receipt else { return "" }
        let time = DurationText.words(.milliseconds(Int64(receipt.seconds * 1000)))
        return ", \(ByteCount.format(receipt.bytes)) in \(time),"
    }

    private static func line(_ event: WatchEvent, _ verbose: Bool) -> (level: LogLine.Level, text: String)? {
        switch event {
        case .rootFound: nil
        case .caughtUp(let summary):
            // The event comes after every burst of files, and is of little interest.
            verbose ? (.info, "caught up, \(NumberText.count(summary.folders, "folder"))") : nil
        case .overflowed:
            (
                .warn,
                "more happened than the kernel keeps (IN_Q_OVERFLOW): reading the folder anew; "
                    + "fs.inotify.max_queued_events=65536 keeps more"
            )
        case .rootLost(let error): (.warn, "waiting for the folder: \(error.message)")
        case .rootReturned: (.info, "the folder is back, reading it from the beginning")
        case .polling(let reason): (level(reason), "read again and again instead of watched: \(self.reason(reason))")
        case .leftAlone(let path, let reason): (.warn, "\(path) is left alone: \(self.reason(reason))")
        }
    }

    private static func level(_ reason: PollingReason) -> LogLine.Level {
        switch reason {
        case .asked, .fileSystem: .info
        case .limit, .unreadable: .warn
        }
    }

    static func reason(_ reason: PollingReason) -> String {
        switch reason {
        case .asked: "as asked"
        case .fileSystem(let name): "the kernel reports no changes that other machines make on \(name)"
        // The message names the sysctl to raise.
        case .limit(let error), .unreadable(let error): error.message
        }
    }

    static func reason(_ reason: LeftAloneReason) -> String {
        switch reason {
        case .linkLeadsOutside: "a symbolic link that leads out of the folder, or nowhere"
        case .nameIsNotText: "its name is not UTF-8"
        case .sameFolder: "the same folder by another path"
        }
    }
}
