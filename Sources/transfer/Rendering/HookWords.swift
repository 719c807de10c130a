import TransferCore
import TransferQueue

/// News of hooks (`onFinish`) in words.
enum HookWords {
    /// - Parameter subject: The job or the batch whose end is told.
    static func line(_ news: HookNews, of subject: String) -> (level: LogLine.Level, text: String)? {
        switch news.state {
        case .told: (.info, "\(subject): told \(news.hook)")
        case .retrying(let delay, let error):
            (.warn, "\(subject): \(news.hook) isn't told yet, again in \(WaitWords.wholeSeconds(delay)): \(error.message)")
        case .failed(let error):
            (
                .error,
                "\(subject): \(news.hook) couldn't be told in \(NumberText.count(news.attempts, "attempt")): "
                    + "\(error.message); the next run tries again"
            )
        }
    }

    /// For `status` and `why`.
    static func line(_ trouble: HookTrouble) -> String {
        let next =
            trouble.again.map { ", again at \(TimeText.local($0))" } ?? ", the next run tries again"
        return "onFinish: \(trouble.hook) couldn't be told in \(NumberText.count(trouble.attempts, "attempt"))\(next): "
            + trouble.message
    }
}
