import TransferCore
import TransferQueue

/// News of hooks (`onFinish`) in words.
enum HookText {
    /// - Parameters:
    ///   - subject: The job or the batch whose end is told.
    ///   - outlook: Whether another run will know that it wasn't told.
    static func line(
        _ news: HookNews, of subject: String, persistence: RunPersistence = .watches
    ) -> (level: LogLine.Level, text: String)? {
        switch news.state {
        case .reported: (.info, "\(subject): told \(news.hook)")
        case .retrying(let delay, let error):
            (.warn, "\(subject): \(news.hook) isn't told yet, again \(WaitText.after(delay)): \(error.message)")
        case .failed(let error):
            (
                .error,
                "\(subject): \(news.hook) couldn't be told in \(NumberText.count(news.attempts, "attempt")): "
                    + error.message
                    + (persistence == .isForgotten
                        ? "; not tried again (nothing is remembered)" : "; the next run tries again")
            )
        }
    }

    /// Below the table of `status`.
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

    /// For `status` and `why`.
    static func line(_ trouble: HookTrouble) -> String {
        let next =
            trouble.again.map { ", again at \(TimeText.local($0))" } ?? ", the next run tries again"
        return "onFinish: \(trouble.hook) couldn't be told in \(NumberText.count(trouble.attempts, "attempt"))\(next): "
            + trouble.message
    }
}
