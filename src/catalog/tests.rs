use super::*;

fn catalog(topics: &[(&str, i32)]) -> Catalog {
    let mut catalog = Catalog::new(100);
    for (name, partitions) in topics {
        create(&mut catalog, name, *partitions).unwrap();
    }
    catalog
}

fn create(catalog: &mut Catalog, name: &str, partitions: i32) -> Result<Arc<Topic>, CatalogError> {
    let id = TopicId(u128::from(catalog.image.number()) + 1);
    catalog.create(name, id, partitions, Overrides::new())
}

fn names(catalog: &Catalog) -> Vec<&str> {
    catalog.iter().map(|topic| topic.name.as_str()).collect()
}

#[test]
fn a_topic_is_found_by_name_and_by_id() {
    let catalog = catalog(&[("orders", 6)]);
    let topic = catalog.by_name("orders").unwrap();
    assert_eq!((topic.partitions, topic.internal), (6, false));
    assert_eq!(catalog.by_id(topic.id), Some(topic));
    assert_eq!(catalog.by_name("other"), None);
    assert_eq!(catalog.by_id(TopicId::ZERO), None);
    assert!(topic.has_partition(5) && !topic.has_partition(6) && !topic.has_partition(-1));
}

#[test]
fn topics_are_walked_in_name_order() {
    let catalog = catalog(&[("b", 1), ("a", 1), ("__consumer_offsets", 50), ("c", 1)]);
    assert_eq!(names(&catalog), ["__consumer_offsets", "a", "b", "c"]);
    let from: Vec<_> = catalog.iter_from("b").map(|topic| topic.name.as_str()).collect();
    assert_eq!(from, ["b", "c"]);
    assert!(catalog.by_name("__consumer_offsets").unwrap().internal);
    assert_eq!(catalog.len(), 4);
}

#[test]
fn names_are_checked() {
    let catalog = catalog(&[("a.b", 1), ("plain", 1)]);
    let refusal = |name| catalog.check_new_name(name).unwrap_err();
    assert_eq!(refusal("a.b"), CatalogError::TopicAlreadyExists("Topic 'a.b' already exists.".into()));
    assert_eq!(
        refusal("a_b"),
        CatalogError::InvalidTopicException("Topic 'a_b' collides with existing topic: a.b".into())
    );
    assert_eq!(
        refusal(".."),
        CatalogError::InvalidTopicException("Topic name is invalid: '..' is not allowed".into())
    );
    assert_eq!(catalog.check_new_name("a-b"), Ok(()));
}

#[test]
fn colliding_names_may_be_created_together_and_free_their_key_when_deleted() {
    let mut catalog = catalog(&[("a.b", 1), ("a_b", 1)]);
    for name in ["a.b", "a_b"] {
        let id = catalog.by_name(name).unwrap().id;
        catalog.delete(id).unwrap();
    }
    assert_eq!(catalog.check_new_name("a.b"), Ok(()));
    assert!(catalog.colliding.is_empty());
}

#[test]
fn creation_is_refused() {
    let mut catalog = catalog(&[("orders", 1)]);
    assert!(matches!(create(&mut catalog, "orders", 1), Err(CatalogError::TopicAlreadyExists(_))));
    assert!(matches!(create(&mut catalog, "a b", 1), Err(CatalogError::InvalidTopicException(_))));
    assert!(matches!(create(&mut catalog, "none", 0), Err(CatalogError::InvalidPartitions(_))));
    assert!(matches!(create(&mut catalog, "none", -1), Err(CatalogError::InvalidPartitions(_))));
    assert_eq!(names(&catalog), ["orders"]);
}

#[test]
fn the_number_of_partitions_is_bounded() {
    let mut catalog = catalog(&[("a", 60)]);
    assert!(matches!(create(&mut catalog, "b", 41), Err(CatalogError::PolicyViolation(_))));
    assert!(matches!(create(&mut catalog, "b", i32::MAX), Err(CatalogError::PolicyViolation(_))));
    let b = create(&mut catalog, "b", 30).unwrap();
    assert!(matches!(catalog.grow(b.id, 41), Err(CatalogError::PolicyViolation(_))));
    assert_eq!(catalog.grow(b.id, 40).unwrap().partitions, 40);
    catalog.delete(b.id).unwrap();
    assert_eq!(create(&mut catalog, "c", 40).unwrap().partitions, 40);
}

#[test]
fn a_topic_only_grows() {
    let mut catalog = catalog(&[("orders", 3)]);
    let id = catalog.by_name("orders").unwrap().id;
    let refusal =
        |partitions| catalog.by_name("orders").unwrap().check_growth(partitions).unwrap_err().to_string();
    assert_eq!(refusal(3), "Topic already has 3 partition(s).");
    assert_eq!(refusal(2), "The topic orders currently has 3 partition(s); 2 would not be an increase.");
    assert!(matches!(catalog.grow(id, 3), Err(CatalogError::InvalidPartitions(_))));
    assert_eq!(catalog.grow(id, 5).unwrap().partitions, 5);
    assert_eq!(catalog.by_name("orders").unwrap().partitions, 5);
    assert_eq!(catalog.by_id(id).unwrap().partitions, 5);
    assert_eq!(catalog.iter().next().unwrap().partitions, 5);
    assert_eq!(catalog.grow(TopicId(77), 5), Err(CatalogError::UnknownTopicId));
}

#[test]
fn a_recreated_topic_is_another_one() {
    let mut catalog = catalog(&[("orders", 3)]);
    let old = catalog.by_name("orders").unwrap().clone();
    assert_eq!(catalog.delete(old.id).unwrap(), old);
    assert_eq!(catalog.delete(old.id), Err(CatalogError::UnknownTopicId));
    assert!(catalog.is_empty());
    let new = create(&mut catalog, "orders", 1).unwrap();
    assert_ne!(new.id, old.id);
    assert_eq!(catalog.by_id(old.id), None);
}

#[test]
fn an_image_stays_as_it_was() {
    let mut catalog = catalog(&[("orders", 3)]);
    let before = catalog.image();
    let id = catalog.by_name("orders").unwrap().id;
    catalog.grow(id, 4).unwrap();
    create(&mut catalog, "new", 1).unwrap();
    let after = catalog.image();

    assert!(after.number() > before.number());
    assert!(!before.has_partition("orders", 3) && after.has_partition("orders", 3));
    assert!(before.by_name("new").is_none() && after.by_name("new").is_some());

    catalog.delete(id).unwrap();
    assert_eq!(after.by_id(id).unwrap().name.as_str(), "orders");
    assert!(catalog.image().by_id(id).is_none());
}

#[test]
fn overrides_are_replaced() {
    let mut catalog = catalog(&[("orders", 3)]);
    let id = catalog.by_name("orders").unwrap().id;
    let overrides = Overrides::from([("retention.ms".into(), "1000".into())]);
    assert_eq!(catalog.set_overrides(id, overrides.clone()).unwrap().overrides, overrides);
    assert_eq!(catalog.by_name("orders").unwrap().overrides, overrides);
    assert_eq!(catalog.set_overrides(TopicId(77), overrides), Err(CatalogError::UnknownTopicId));
}

#[test]
fn random_ids_are_version_4_and_begin_with_no_dash() {
    for random in [0, u128::MAX, 62 << 122, (62 << 122) | 1, 63 << 122] {
        let id = random_topic_id(random);
        assert_ne!(id.0 >> 122, 62, "{random:x}");
        assert_eq!(uuid::Uuid::from(id).get_version_num(), 4);
    }
    assert_ne!(random_topic_id(1), random_topic_id(2));
}
