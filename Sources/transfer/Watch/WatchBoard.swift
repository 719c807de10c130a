import Glibc
import TransferCore
import TransferQueue
import TransferWatch

/// The state of the watched folders: for the live screen, for `systemctl status`, and for the last line.
struct WatchBoard: Sendable {
    struct Folder: Sendable {
        var path: String
        /// The redacted URL.
        var url: String
        var state = State.starting
        /// The number of files whose upload is still to come or under way.
        var waiting = 0
        /// Whether the folder may contain more files than those.
        var holdsMore = false
        /// The number of files that another program has open for writing, and the paths of some of them.
        var unfinished = 0
        var someUnfinished: [String] = []
        /// The number of uploaded files that stay for a while.
        var kept = 0
        /// Whether the uploads of the folder are paused.
        var isPaused = false
        /// The number of files that this process uploaded.
        var uploaded = 0
        /// The files whose upload failed, and has not begun again since, with the time of the automatic retry.
        var failed: [PathKey: Int64?] = [:]
        /// The uploaded files that could not be moved or deleted.
        var stuck: Set<PathKey> = []
        var hint = CommandHint()
    }

    enum State: Sendable, Hashable {
        case starting, watching
        /// The folder is polled, for this reason in words.
        case polling(String)
        case lost(String)
    }

    private(set) var folders: [Folder] = []
    /// The builder of commands in messages.
    var hint = CommandHint()
    /// The number of uploads on the day of the last one.
    private var today = (uploaded: 0, day: Int64.min)
    private var started: Int64 = 0
    /// The reason for which the uploads wait.
    private var waitsFor: String?

    mutating func receive(_ notice: WatchNotice) {
        guard let index = folders.firstIndex(where: { $0.path == notice.folder }) else {
            if case .begins(let url) = notice.kind {
                if folders.isEmpty, started == 0 { started = notice.time }
                folders.append(Folder(path: notice.folder, url: url, hint: hint))
            }
            return
        }
        switch notice.kind {
        case .begins(let url): folders[index].url = url
        case .ended: folders.remove(at: index)
        case .reported(.watch(let event)): folders[index].receive(event)
        case .reported(.confirmed(let path, _)):
            folders[index].stuck.remove(PathKey(path))
            folders[index].uploaded += 1
            turn(to: notice.time)
            today.uploaded += 1
        case .reported(.paused): folders[index].isPaused = true
        case .reported(.retargeted), .reported(.notUploaded): break
        case .reported(.backlog(let waiting, let kept)): (folders[index].waiting, folders[index].kept) = (waiting, kept)
        case .reported(.holdsMore(let more)): folders[index].holdsMore = more
        case .reported(.stays(let path, _, _)): folders[index].stuck.insert(PathKey(path))
        case .reported(.moved(let path, _)), .reported(.deleted(let path)): folders[index].stuck.remove(PathKey(path))
        }
    }

    mutating func receive(_ event: QueueEvent) {
        guard let path = WatchBatch.folder(of: event.batch),
            let index = folders.firstIndex(where: { $0.path == path })
        else { return }
        switch event.kind {
        case .failed(let failure):
            folders[index].failed[PathKey(WatchedFolder.path(ofJob: failure.job))] = .some(
                failure.again.map { event.time + $0.inMilliseconds })
        case .started(let job, _), .dropped(let job), .cancelled(let job):
            folders[index].failed.removeValue(forKey: PathKey(WatchedFolder.path(ofJob: job)))
        case .commanded(.pause, nil): folders[index].isPaused = true
        case .commanded(.resume, nil): folders[index].isPaused = false
        case .batchProgress(let progress): waitsFor = Self.words(progress.waitReason)
        case .batchWaiting(let reason, _): waitsFor = Self.words(reason)
        case .batchContinues: waitsFor = nil
        default: break
        }
    }

    /// Returns a line such as `/srv/out: 3 files waiting, 1,204 uploaded today`; several folders are counted together.
    func status(at time: Int64) -> String {
        let name = folders.count == 1 ? folders[0].path : NumberText.count(folders.count, "folder")
        let waiting = folders.reduce(0) { $0 + $1.waiting }
        let least = folders.contains { $0.holdsMore && $0.waiting > 0 } ? "at least " : ""
        var words = [
            waiting > 0 ? "\(least)\(NumberText.count(waiting, "file")) waiting" : "nothing waiting",
            uploadedWords(at: time),
        ]
        let failed = folders.reduce(0) { $0 + $1.failed.count }
        if failed > 0 {
            let again = folders.lazy.flatMap(\.failed.values).compactMap(\.self).min()
            let when = again.map { ", tried again from \(TimeText.local($0).dropFirst(11).prefix(5)) on" } ?? ""
            words.append("\(NumberText.grouped(failed)) failed\(when)")
        }
        var text = "\(name): \(words.joined(separator: ", "))"
        let lost = folders.filter { if case .lost = $0.state { true } else { false } }
        if let first = lost.first {
            let which = folders.count == 1 ? "the folder" : first.path
            let others = NumberText.count(lost.count - 1, "other")
            text +=
                "; \(which) is not there" + (lost.count > 1 ? ", nor \(lost.count == 2 ? "is" : "are") \(others)" : "")
        }
        let paused = folders.filter(\.isPaused)
        if let first = paused.first {
            text += folders.count == paused.count ? "; paused" : "; \(first.path) is paused"
        } else if waiting > 0, let waitsFor {
            text += "; \(waitsFor)"
        }
        return text
    }

    /// Returns a reason without a countdown, as the line is not updated every second.
    private static func words(_ reason: WaitReason?) -> String? {
        switch reason {
        case nil, .retry: nil
        case .host(let origin, let status, let message, _, _)?:
            "\(WaitText.host(origin)): \(status.map { "\($0)" } ?? message)"
        case let reason?: WaitText.log(reason)
        }
    }

    /// Returns `12 uploaded since 14:02`, and from the first midnight on `12 uploaded today`.
    private func uploadedWords(at time: Int64) -> String {
        let day = Self.day(of: time)
        let count = NumberText.grouped(day == today.day ? today.uploaded : 0)
        guard day == Self.day(of: started) else { return "\(count) uploaded today" }
        return "\(count) uploaded since \(TimeText.local(started).dropFirst(11).prefix(5))"
    }

    private mutating func turn(to time: Int64) {
        let day = Self.day(of: time)
        if day != today.day { (today.day, today.uploaded) = (day, 0) }
    }

    /// Returns the day by the local clock.
    private static func day(of milliseconds: Int64) -> Int64 {
        var seconds = time_t(milliseconds / 1000)
        var fields = tm()
        guard localtime_r(&seconds, &fields) != nil else { return milliseconds / 86_400_000 }
        return Int64(fields.tm_year) * 366 + Int64(fields.tm_yday)
    }
}

extension WatchBoard.Folder {
    /// A line such as `/srv/out -> https://files.example/in/{name}: 3 files waiting, 12 uploaded`.
    var screenLine: String {
        var words = [waiting > 0 ? "\(waitingWords) waiting" : "nothing waiting"]
        words.append("\(NumberText.grouped(uploaded)) uploaded")
        if kept > 0 { words.append("\(NumberText.grouped(kept)) kept for a while") }
        if isPaused { words.append("paused") }
        switch state {
        case .starting, .watching: break
        case .polling: words.append("read again and again")
        case .lost: words = ["the folder is not there"] + words
        }
        return "\(path) -> \(url): \(words.joined(separator: ", "))"
    }

    /// The number of waiting files. At most a thousand are counted; the others wait in the folder.
    private var waitingWords: String { (holdsMore ? "at least " : "") + NumberText.count(waiting, "file") }

    /// The line about the rest when the process ends.
    var stoppedLine: String {
        var words = ["\(path): stopped", "\(NumberText.grouped(uploaded)) uploaded"]
        if !failed.isEmpty {
            let command = hint.command("status", WatchBatch.name(of: path), options: ["--failed"])
            let list = hint.isLasting ? " (\(command) lists them)" : ""
            words.append("\(NumberText.grouped(failed.count)) failed\(list)")
        }
        if !stuck.isEmpty { words.append("\(NumberText.grouped(stuck.count)) not moved or deleted") }
        if unfinished > 0 {
            let names = WatchText.list(someUnfinished, of: unfinished)
            words.append("\(NumberText.count(unfinished, "file")) still open for writing (\(names))")
        }
        if waiting > 0 {
            let resume = hint.command("resume", WatchBatch.name(of: path))
            let how =
                !hint.isLasting
                ? "and nothing is remembered"
                : isPaused
                    ? "paused; after \(resume) the next start continues them" : "which the next start continues"
            words.append("\(waitingWords) left, \(how)")
        } else if holdsMore, state != .starting {
            words.append("the folder was not read to its end, so that more may be left")
        } else {
            words.append(words.count > 2 ? "nothing else left" : "nothing left")
        }
        return words.joined(separator: ", ")
    }

    fileprivate mutating func receive(_ event: WatchEvent) {
        switch event {
        case .rootFound, .rootReturned: state = .watching
        case .rootLost(let error): state = .lost(error.message)
        case .polling(let reason): state = .polling(WatchText.reason(reason))
        case .caughtUp(let summary): (unfinished, someUnfinished) = (summary.unfinished, summary.someUnfinished)
        case .overflowed, .leftAlone: break
        }
    }
}
