import Glibc
import TransferCore
package import TransferEngine
package import TransferReachability

/// The lookups that answer the questions of ``HostWays``, by the system's resolver and the kernel's routes.
package struct HostLook: Sendable {
    package let monitor: NetworkMonitor
    package var names = LinkResolver()

    package init(monitor: NetworkMonitor, names: LinkResolver = LinkResolver()) {
        self.monitor = monitor
        self.names = names
    }

    /// Looks a host up. Blocks as long as the resolver does.
    package func finding(_ question: HostWays.Question) -> HostWays.Finding {
        guard IPAddress(question.host) == nil else { return finding(question, .success([question.host])) }
        let answer =
            question.link.map { names.addresses(of: question.host, link: $0) } ?? HostResolver.system(question.host)
        return finding(question, answer)
    }

    /// Returns the finding for an answer.
    ///
    /// - Parameter answer: The resolver's answer about the host.
    package func finding(_ question: HostWays.Question, _ answer: HostResolver.Answer) -> HostWays.Finding {
        switch answer {
        case .success(let addresses):
            var links: [Int] = []
            for address in addresses {
                guard let link = link(to: address, over: question.link), !links.contains(link) else { continue }
                links.append(link)
            }
            return .routes(links)
        case .failure: return hasNameServer ? .unknownName : .unanswered
        }
    }

    /// Whether the kernel has a route to a name server.
    package var hasNameServer: Bool { names.nameServers().contains { link(to: $0, over: nil) != nil } }

    /// Returns the link of the kernel's route to an address.
    ///
    /// - Parameter address: The address, with a zone (`fe80::1%eth0`) if it needs one.
    private func link(to address: String, over name: String?) -> Int? {
        guard let destination = IPAddress(address) else { return nil }
        let zone = address.split(separator: "%", maxSplits: 1).dropFirst().first.map(String.init)
        guard let wanted = name ?? zone else { return monitor.route(to: destination)?.link }
        let index = if_nametoindex(wanted)
        guard index > 0 else { return nil }
        return monitor.route(to: destination, over: Int(index))?.link
    }
}
