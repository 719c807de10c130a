@testable import TransferJobs
@testable import transfer

/// The options of the fronts, in the form of a table in an article.
enum FrontsTable {
    static var markdown: String {
        var text = "| tool | options | are |\n| --- | --- | --- |\n"
        for tool in FrontTool.allCases {
            let (talk, refused) = names(of: tool)
            text += row(tool, talk, "accepted, without an effect")
            text += row(tool, refused, "refused, with the reason")
        }
        return text
    }

    private static func row(_ tool: FrontTool, _ names: some Sequence<String>, _ fate: String) -> String {
        "| \(tool.rawValue) | \(names.sorted().map { "`\($0)`" }.joined(separator: " ")) | \(fate) |\n"
    }

    private static func names(of tool: FrontTool) -> (talk: Set<String>, refused: Set<String>) {
        switch tool {
        case .curl:
            let own: Set = [
                "location", "remote-time", "remote-header-name", "silent", "verbose", "parallel", "retry-all-errors",
                "anyauth", "stderr", "fail-with-body",
            ]
            let refused = Set(CurlFrontRules.refused.keys)
            var (talk, others) = (CurlFrontRules.talk, refused)
            for option in CurlOptions.all {
                guard case .common(let meaning) = option.meaning, !talk.contains(option.name) else { continue }
                switch meaning {
                case .harmless where !refused.contains(option.name) && !own.contains(option.name):
                    talk.insert(option.name)
                case .leftOut, .refused, .secret: others.insert(option.name)
                default: break
                }
            }
            let taken: Set = [
                "user", "proxy-user", "oauth2-bearer", "parallel-max", "proto", "post301", "post302", "post303", "ipv4",
                "ipv6",
                "stderr",
            ]
            return (talk, others.subtracting(taken).subtracting(CurlFrontAnswers.names))
        case .wget:
            var (talk, refused): (Set<String>, Set<String>) = ([], [])
            for option in WgetOptions.all {
                switch option.meaning {
                case .talk: talk.insert(option.name)
                case .refused: refused.insert(option.name)
                case .common, .own: break
                }
            }
            return (talk, refused)
        case .aria2:
            var (talk, refused) = (Aria2FrontOptions.talk, Set(Aria2FrontOptions.refused.keys))
            for name in Aria2Options.names {
                if Aria2FrontOptions.concernsNoURL(name) { talk.insert(name) }
                switch Aria2Options.meaning(of: name) {
                case .harmless?: talk.insert(name)
                case .leftOut? where !talk.contains(name): refused.insert(name)
                default: break
                }
            }
            return (talk.subtracting(["continue", "auto-file-renaming", "http-auth-challenge"]), refused)
        }
    }
}
