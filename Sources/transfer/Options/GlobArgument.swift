import TransferCore
import TransferQueue

/// A pattern for the names of files.
struct GlobArgument: OptionValue {
    let pattern: GlobPattern

    init?(argument: String) {
        guard let pattern = try? GlobPattern(argument) else { return nil }
        self.pattern = pattern
    }

    static let form = "a pattern such as '*.jpg', 'logs/**' or '{a,b}*'"

    static func fault(of argument: String) -> String? {
        do throws(TransferError) {
            _ = try GlobPattern(argument)
            return nil
        } catch {
            return error.message
        }
    }
}
