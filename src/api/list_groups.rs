//! ListGroups (key 16), versions 0–5. 4: state filter (KIP-518). 5: types (KIP-848).

use kafka_protocol::messages::list_groups_response::ListedGroup;
use kafka_protocol::messages::{GroupId, ListGroupsRequest, ListGroupsResponse};
use kafka_protocol::protocol::StrBytes;

use super::convert::text;
use super::{Context, Outcome};
use crate::coordinator::reply;

pub(super) fn handle(ctx: &Context<'_>, request: &ListGroupsRequest) -> Outcome<ListGroupsResponse> {
    let mut groups = Vec::new();
    let mut kind = StrBytes::new();
    ctx.services.groups.read_all(&mut |shard| {
        groups.extend(shard.list().filter(|group| is_wanted(request, group)).map(|group| {
            // Most are of one kind.
            if *kind != *group.protocol_type {
                kind = text(group.protocol_type);
            }
            listed(&group, kind.clone())
        }));
    });
    Outcome::Reply(ListGroupsResponse::default().with_groups(groups))
}

/// Filters ignore case, those of states also blanks around; an empty list wants all.
fn is_wanted(request: &ListGroupsRequest, group: &reply::ListedGroup<'_>) -> bool {
    let wants = |filter: &[StrBytes], value: &str, matches: fn(&str, &str) -> bool| {
        filter.is_empty() || filter.iter().any(|wanted| matches(wanted, value))
    };
    wants(&request.states_filter, group.state, |wanted, state| wanted.trim().eq_ignore_ascii_case(state))
        && wants(&request.types_filter, group.group_type, str::eq_ignore_ascii_case)
}

fn listed(group: &reply::ListedGroup<'_>, kind: StrBytes) -> ListedGroup {
    ListedGroup::default()
        .with_group_id(GroupId(text(group.group.as_str())))
        .with_protocol_type(kind)
        .with_group_state(StrBytes::from_static_str(group.state))
        .with_group_type(StrBytes::from_static_str(group.group_type))
}
