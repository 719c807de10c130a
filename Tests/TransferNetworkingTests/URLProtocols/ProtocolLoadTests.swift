import Foundation
import FoundationNetworking
import Testing

@testable import TransferNetworking

/// The rule for the messages of a `URLProtocol`, without a real one.
@Suite("Loads of URLProtocols, pure")
struct ProtocolLoadTests {
    private static let url = URL(string: "https://mock.example/") ?? URL(fileURLWithPath: "/")
    private let response = URLResponse(
        url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
    private let request = URLRequest(url: url)

    /// Returns the resulting actions as letters.
    private func actions(_ load: inout ProtocolLoad, isReady: Bool = true) -> String {
        var text = ""
        while let action = load.next(isReady: isReady) {
            switch action {
            case .begin(let response): text += response == nil ? "b" : "B"
            case .write(let data): text += "\(data.count)"
            case .redirect: text += "R"
            case .succeed: text += "S"
            case .fail: text += "F"
            }
        }
        return text
    }

    private func event(_ letter: Character) -> ProtocolLoad.Event {
        switch letter {
        case "h": .response(response)
        case "r": .redirected(request, by: response)
        case "e": .finished
        case "x": .failed(URLError(.timedOut))
        default: .data(Data(count: letter.wholeNumberValue ?? 0))
        }
    }

    @Test(arguments: [
        ("h12e", "B12S"),
        ("e", "S"),
        ("he", "BS"),
        // A body without a head is one all the same.
        ("3e", "b3S"),
        ("x", "F"),
        ("h1x", "B1F"),
        // After the end every message is ignored, and so are a second head and a redirect after the first head.
        ("he1hx", "BS"),
        ("hh1rh2e", "B12S"),
        ("r", "R"),
        // The load does not continue before the decision.
        ("rh1e", "R"),
    ])
    func eventsAreProcessedInOrder(_ said: String, _ expected: String) {
        var load = ProtocolLoad()
        for letter in said { load.receive(event(letter), from: 0) }
        #expect(actions(&load) == expected)
    }

    @Test func aBodyWaitsUntilItIsTakenAndTheEndWaitsForTheBody() {
        var load = ProtocolLoad()
        for letter in "h1e" { load.receive(event(letter), from: 0) }
        #expect(actions(&load, isReady: false) == "B")
        #expect(!load.isOver)
        #expect(actions(&load) == "1S")
        #expect(load.isOver)
    }

    @Test func aSuspensionHoldsEverythingBack() {
        var load = ProtocolLoad()
        load.isSuspended = true
        for letter in "h1e" { load.receive(event(letter), from: 0) }
        #expect(actions(&load) == "")
        load.isSuspended = false
        #expect(actions(&load) == "B1S")
    }

    @Test func afterARedirectOnlyTheNextProtocolCounts() {
        var load = ProtocolLoad()
        load.receive(event("r"), from: 0)
        #expect(actions(&load) == "R")
        let follows = load.follow()
        #expect(follows)
        for letter in "x" { load.receive(event(letter), from: 0) }
        for letter in "h2e" { load.receive(event(letter), from: 1) }
        #expect(actions(&load) == "B2S")
        let followsAgain = load.follow()
        #expect(!followsAgain)
    }

    @Test func aRedirectThatIsNotFollowedIsTheAnswer() {
        var load = ProtocolLoad()
        load.receive(event("r"), from: 0)
        #expect(actions(&load) == "R")
        load.stay()
        for letter in "h2e" { load.receive(event(letter), from: 0) }
        #expect(actions(&load) == "BS")
    }
}
