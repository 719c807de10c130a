package import TransferCore

extension RetrySettings {
    /// The queue's defaults, overridden by the job's values.
    package var rule: RetryRule {
        var rule = RetryRule()
        if let limit { rule.limit = limit }
        if let base { rule.base = max(2, base) }
        if let scale { rule.scale = scale.inSeconds }
        if let maxDelay { rule.maxDelay = maxDelay.inSeconds }
        if let maxWait { rule.maxWait = maxWait.inSeconds }
        if let jitter { rule.jitter = jitter }
        if let statusCodes { rule.statusCodes = statusCodes }
        if let methods { rule.methods = methods }
        return rule
    }
}
