import TransferCore
import TransferQueue

/// The messages about hooks (`onFinish`).
enum HookText {
    /// Returns the line about an event.
    ///
    /// - Parameters:
    ///   - subject: The job or the batch whose end is reported.
    ///   - persistence: Whether another run will repeat a failed notification.
    static func line(
        _ news: HookNews, of subject: String, persistence: RunPersistence = .watches
    ) -> (level: LogLine.Level, text: String)? {
        switch news.state {
        case .reported: (.info, "\(subject): called \(news.hook)")
        case .retrying(let delay, let error):
            (
                .warn,
                "\(subject): \(news.hook) could not be called yet, again \(WaitText.after(delay)): \(error.message)"
            )
        case .failed(let error):
            (
                .error,
                "\(subject): \(news.hook) could not be called in \(NumberText.count(news.attempts, "attempt")): "
                    + error.message
                    + (persistence == .isForgotten
                        ? "; not tried again (nothing is remembered)" : "; the next run tries again")
            )
        }
    }

    /// Returns the lines below the table of `status`.
    static func lines(_ row: BatchStatusRow, _ names: BatchNames, _ charset: Charset) -> [String] {
        row.hooks.map { trouble in
            let name = names.short(row.name)
            return charset.visible("\(trouble.job.map { "\(name)/\($0)" } ?? name): \(line(trouble))")
        }
    }

    static func members(_ object: inout JSONObject, _ trouble: HookTrouble) {
        object.optional("id", trouble.job)
        object.field("hook", trouble.hook)
        object.field("attempts", trouble.attempts)
        object.field("message", trouble.message)
        object.optional("again", trouble.again.map { TimeStamp.text($0) })
    }

    /// Returns the line for `status` and `why`.
    static func line(_ trouble: HookTrouble) -> String {
        let next =
            trouble.again.map { ", again at \(TimeText.local($0))" } ?? ", the next run tries again"
        return
            "onFinish: \(trouble.hook) could not be called in \(NumberText.count(trouble.attempts, "attempt"))\(next): "
            + trouble.message
    }
}
